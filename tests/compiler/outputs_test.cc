// Tests of graphs whose outputs are, for example, inputs, constants, empty, equal or read by nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/front_end.h"
#include "graph/passes/pipeline.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::ErrorAgainstReference;
using testing::GraphOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kTolerance;
using testing::Options;

struct OutputCase {
  const char* name;
  const char* text;
};

// Prints the name. Without this function, GoogleTest prints the bytes of the pointers.
void PrintTo(const OutputCase& test, std::ostream* out) { *out << test.name; }

class Outputs : public ::testing::TestWithParam<OutputCase> {};

TEST_P(Outputs, AgreeWithTheReference) {
  const Graph graph = GraphOf(GetParam().text);
  for (const FusionMode fusion : {FusionMode::kFused, FusionMode::kUnfused}) {
    CompileOptions options = Options();
    options.fusion = fusion;
    const auto model = Compile(graph, nullptr, options);
    ASSERT_TRUE(model) << model.error().Format();
    const Executable& executable = *model->executable;
    ASSERT_EQ(executable.Outputs().size(), graph.outputs().size());
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      EXPECT_EQ(executable.Outputs()[i].name, graph.output_names()[i]);
    }
    const auto error = ErrorAgainstReference(graph, executable);
    ASSERT_TRUE(error) << error.error().Format();
    EXPECT_LT(*error, kTolerance);
  }
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  CompileOptions options = Options();
  options.on_log = [&](const std::string& line) { lines.push_back(line); };
  EXPECT_TRUE(RunFrontEnd(GraphOf(text), options));
  return lines;
}

// A rule that would replace an output by an input is not applied. If the graph has one operator,
// the log explains this.
TEST(OutputsThatStay, AreExplained) {
  EXPECT_THAT(LinesOf(R"(graph g {
    input x: f32[4]
    constant one: f32[] = 1
    y = mul(x, one)
    output y
  })"),
              ElementsAre(AllOf(HasSubstr("y stays as it is: rule "),
                                HasSubstr("would make an input a graph output"))));
  EXPECT_THAT(LinesOf(R"(graph g {
    input x: f32[4]
    constant two: f32[] = 2
    y = mul(x, two)
    output y
  })"),
              IsEmpty());
}

// The channels and the image sizes are not multiples of a vector. All storage orders are tested.
TEST(ImageOrders, AgreeWithTheReference) {
  const Graph graph = GraphOf(R"(graph g {
    input x: f32[1, 5, 11, 13]
    weight u: f32[19, 5, 3, 3]
    weight d: f32[19, 1, 3, 3]
    weight v: f32[35, 38, 1, 1]
    weight t: f32[35, 3, 2, 2]
    c = conv(x, u) {pads=[1, 1, 1, 1]}
    r = relu(c)
    e = conv(r, d) {pads=[1, 1, 1, 1], group=19}
    s = add(e, r)
    both = concat(s, r) {axis=1}
    p = max_pool(both) {kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}
    q = conv(p, v)
    w = sigmoid(q)
    y = conv_transpose(w, t) {strides=[2, 2]}
    output y = y
  })");
  for (const ImageOrder order :
       {ImageOrder::kChannelsFirst, ImageOrder::kChannelsLast, ImageOrder::kBlocked}) {
    CompileOptions options = Options();
    PipelineOptions passes = PassesOf(options);
    passes.pass.image_order = order;
    const auto stored = RunPipeline(graph, passes);
    ASSERT_TRUE(stored) << stored.error().Format();
    options.disabled_passes = {"choose_layouts"};
    const auto front = RunFrontEnd(stored->graph, options);
    ASSERT_TRUE(front) << front.error().Format();
    EXPECT_EQ(std::ranges::all_of(front->graph.values(),
                                  [](const Value& value) { return value.layout.IsRowMajor(); }),
              order == ImageOrder::kChannelsFirst);
    const auto model = Compile(stored->graph, nullptr, options);
    ASSERT_TRUE(model) << model.error().Format();
    const auto error = ErrorAgainstReference(graph, *model->executable);
    ASSERT_TRUE(error) << error.error().Format();
    EXPECT_LT(*error, kTolerance) << static_cast<int>(order);
  }
}

const OutputCase kCases[] = {
    {"AnInput", R"(graph g {
      input x: f32[3, 5]
      output y = x
    })"},
    {"AnInputAmongOthers", R"(graph g {
      input x: f32[3, 5]
      input z: f32[3, 5]
      s = add(x, z)
      output first = z
      output second = s
      output third = x
    })"},
    {"NoElements", R"(graph g {
      input x: f32[2, 0, 4]
      input y: f32[3, 4]
      input a: f32[3, 0]
      input b: f32[0, 5]
      r = reshape(x) {shape=[4, 0, 2]}
      s = mul(x, x)
      t = reduce_sum(s) {axes=[1]}
      u = reduce_sum(s) {axes=[2]}
      v = slice(y) {starts=[0, 2], ends=[3, 2]}
      w = add(y, y)
      p = matmul(a, b)
      output r = r
      output s = s
      output t = t
      output u = u
      output v = v
      output w = w
      output p = p
    })"},
    {"AConstant", R"(graph g {
      input x: f32[2]
      constant c: f32[3] = [1.0, -2.5, 4.0]
      constant n: i64[] = 7
      output y = c
      output k = n
      output z = x
    })"},
    {"AConstantThatIsComputed", R"(graph g {
      input x: f32[2]
      constant c: f32[2] = [1.0, -2.5]
      d = mul(c, c)
      s = add(x, d)
      output y = d
      output z = s
    })"},
    {"TheSameValueTwice", R"(graph g {
      input x: f32[7, 9]
      r = relu(x)
      output y = r
      output z = r
    })"},
    {"TheSameInputTwice", R"(graph g {
      input x: f32[7, 9]
      output y = x
      output z = x
    })"},
    {"UsedLater", R"(graph g {
      input x: f32[11, 13]
      weight w: f32[13, 13]
      a = matmul(x, w)
      r = relu(a)
      b = matmul(r, w)
      output hidden = r
      output y = b
      output again = r
    })"},
    {"UsedInsideAFusionGroup", R"(graph g {
      input x: f32[1, 4, 9, 9]
      weight w: f32[6, 4, 3, 3]
      c = conv(x, w) {pads=[1, 1, 1, 1]}
      r = relu(c)
      s = add(r, c)
      output conv = c
      output y = s
    })"},
    {"OfABlockedLayout", R"(graph g {
      input x: f32[1, 16, 10, 10]
      weight w: f32[32, 16, 3, 3]
      weight v: f32[32, 32, 3, 3]
      c = conv(x, w) {pads=[1, 1, 1, 1]}
      d = conv(c, v) {pads=[1, 1, 1, 1]}
      output first = c
      output second = d
    })"},
    {"ATransposeOfAnInput", R"(graph g {
      input x: f32[5, 7]
      t = transpose(x) {perm=[1, 0]}
      u = transpose(t) {perm=[1, 0]}
      output y = t
      output same = u
    })"},
    {"AReshapeOfAnInput", R"(graph g {
      input x: f32[6, 4]
      r = reshape(x) {shape=[3, 8]}
      output y = r
    })"},
    {"OfOtherTypes", R"(graph g {
      input x: f32[3, 5]
      constant zero: f32[] = 0.0
      m = ge(x, zero)
      i = cast(x) {to="i64"}
      output mask = m
      output whole = i
    })"},
    {"AScalar", R"(graph g {
      input x: f32[3, 5]
      s = reduce_sum(x) {axes=[0, 1], keepdims=0}
      output y = s
    })"},
    {"TwoConcatenationsThatBeginAlike", R"(graph g {
      input x: f32[6, 16]
      input z: f32[6, 16]
      a = relu(x)
      b = tanh(x)
      c = concat(a, b) {axis=0}
      first = slice(c) {starts=[2, 0], ends=[8, 16], steps=[1, 1]}
      s = softmax(z) {axis=0}
      d = add(s, b)
      e = concat(a, d) {axis=0}
      second = slice(e) {starts=[4, 0], ends=[10, 16], steps=[1, 1]}
      output first = first
      output second = second
    })"},
    {"WithoutElements", R"(graph g {
      input x: f32[0, 5]
      r = relu(x)
      output y = r
    })"},
};

INSTANTIATE_TEST_SUITE_P(All, Outputs, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tunec
