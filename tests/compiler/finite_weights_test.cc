// Tests of weights whose values are all finite, through the whole compiler. The tests check which
// tasks record this fact, and how many packed bytes the fact saves. Infinities and NaNs of weights
// and inputs must still reach the outputs.
#include "compiler/weights/finite_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "compiler/front_end.h"
#include "compiler/tuning/tasks.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "kernel/compile_kernel.h"
#include "support/check.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// A layer that is large enough for three parts. Its sizes are not multiples of the tiles' sizes.
constexpr std::string_view kLayer = R"(graph layer {
  input x: f32[31, 740]
  weight w: f32[740, 2030]
  weight b: f32[2030]
  m = matmul(x, w)
  a = add(m, b)
  output y = a
})";
constexpr int64_t kLength = 740;

constexpr std::string_view kTransposed = R"(graph transposed {
  input x: f32[2, 31, 740]
  weight w: f32[2030, 740]
  m = matmul(x, w) {transpose_b=1}
  output y = m
})";

constexpr std::string_view kImage = R"(graph image {
  input x: f32[1, 40, 11, 13]
  weight w: f32[50, 40, 3, 3]
  weight b: f32[50]
  c = conv(x, w, b) {pads=[1, 1, 1, 1], strides=[2, 2]}
  output y = c
})";

// A graph of two layers with different weights. If all weights are finite, the workloads of the
// layers have equal texts.
constexpr std::string_view kTwoLayers = R"(graph two {
  input x: f32[64, 96]
  weight w: f32[96, 96]
  weight v: f32[96, 96]
  m = matmul(x, w)
  n = tanh(m)
  o = matmul(n, v)
  p = tanh(o)
  output y = p
})";

// A source of random weights. The last element of the weight `name` is replaced by `number`.
class SpoiledWeights : public RandomWeights {
 public:
  SpoiledWeights(std::string name, float number)
      : RandomWeights(7), name_(std::move(name)), number_(number) {}
  void Fill(const WeightRequest& request, Array& array) const override {
    RandomWeights::Fill(request, array);
    if (request.name == name_) array.MutableAs<float>()[array.size() - 1] = number_;
  }

 private:
  std::string name_;
  float number_;
};

Graph GraphWith(std::string_view text, const std::string& weight, float number) {
  Result<Graph> graph = ParseGraph(text, "test.graph", SpoiledWeights(weight, number));
  TUNEC_CHECK(graph.has_value(), "{}", graph.error().Format());
  return *std::move(graph);
}

// A CPU with emulated AMX tiles. Tests that compare only texts and sizes run on any machine.
constexpr const char* kTiles = "x86-64-v4,+amx-emulated";

CompileOptions OptionsUnder(const char* accuracy, const char* cpu = kTiles) {
  CompileOptions options = testing::Options();
  const auto target = ParseCpu(cpu, 2);
  TUNEC_CHECK(target.has_value(), "{}", target.error().Format());
  options.target = *target;
  options.accuracy = *ParseAccuracy(accuracy);
  return options;
}

bool HasVectorsForTiles() { return DetectCpu(2).Has("avx512f"); }

std::vector<std::string> TextsOf(const Graph& graph, const CompileOptions& options) {
  const auto front = RunFrontEnd(graph, options);
  TUNEC_CHECK(front.has_value(), "{}", front.error().Format());
  std::vector<std::string> texts;
  for (const GroupReport& group : front->groups) {
    for (const NamedCompute& lowering : group.lowerings) texts.push_back(Print(lowering.compute));
  }
  return texts;
}

TEST(FiniteWeights, AreSaidWhereProductsReadThem) {
  const auto texts = TextsOf(testing::GraphOf(kLayer), OptionsUnder("f32"));
  EXPECT_THAT(texts, Each(HasSubstr("weight w1: f32[740, 2030] constant finite\n")));
  EXPECT_THAT(texts, Each(HasSubstr("weight w2: f32[2030] constant\n")));
  EXPECT_THAT(TextsOf(testing::GraphOf(kImage), OptionsUnder("tf32")),
              Each(HasSubstr("weight w1: f32[50, 40, 3, 3] constant finite")));
}

TEST(FiniteWeights, AreNotSaidOfAnInfinityOrANan) {
  for (const float number : {kInf, -kInf, kNan}) {
    const auto texts = TextsOf(GraphWith(kLayer, "w", number), OptionsUnder("f32"));
    EXPECT_THAT(texts, Each(Not(HasSubstr("finite")))) << number;
  }
  EXPECT_THAT(
      TextsOf(GraphWith(kLayer, "w", std::numeric_limits<float>::max()), OptionsUnder("f32")),
      Each(HasSubstr("finite")));
}

// If no operand is split, tasks do not record that weights are finite.
TEST(FiniteWeights, AreNotSaidWhereNothingIsSplit) {
  const Graph graph = testing::GraphOf(kLayer);
  const auto none = Each(Not(HasSubstr("finite")));
  EXPECT_THAT(TextsOf(graph, OptionsUnder("exact")), none);
  EXPECT_THAT(TextsOf(graph, OptionsUnder("bf16")), none);
  EXPECT_THAT(TextsOf(graph, OptionsUnder("f32", "znver4")), none);
  EXPECT_THAT(TextsOf(graph, OptionsUnder("f32", "haswell")), none);
}

TEST(FiniteWeights, AreSaidForGpus) {
  CompileOptions options = OptionsUnder("f32");
  options.target.device = *CudaAccelerator("sm_90a");
  EXPECT_THAT(TextsOf(testing::GraphOf(kLayer), options), Each(HasSubstr("constant finite")));
}

TEST(FiniteWeights, GroupsThatDifferInThemAreTwoTasks) {
  const auto tasks = [](const Graph& graph) {
    const CompileOptions options = OptionsUnder("f32");
    const auto front = RunFrontEnd(graph, options);
    TUNEC_CHECK(front.has_value(), "{}", front.error().Format());
    return CollectTasks(*front, options.target).unique.size();
  };
  EXPECT_EQ(tasks(testing::GraphOf(kTwoLayers)), 1U);
  EXPECT_EQ(tasks(GraphWith(kTwoLayers, "v", kInf)), 2U);
}

bool SameKind(double found, double expected) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected)) return found == expected;
  return std::abs(found - expected) <= 1e-4 * std::max(1.0, std::abs(expected));
}

// Compiles the graph and expects a kernel that splits operands into three bfloat16 parts for AMX.
// Runs the model after `spoil` has changed the first input. Each result must be near a finite
// reference, or else the same infinity or NaN.
void ExpectSameAsReference(const Graph& graph, const std::function<void(Array&)>& spoil) {
  const auto model = Compile(graph, nullptr, OptionsUnder("f32"));
  ASSERT_TRUE(model) << model.error().Format();
  EXPECT_THAT(model->report.kernels[0].schedule, HasSubstr(" bf16 3\n"));
  EXPECT_THAT(model->report.kernels[0].schedule, HasSubstr("amx.bf16"));
  std::vector<Array> inputs = testing::SomeInputs(*model->executable);
  spoil(inputs[0]);
  const auto found = testing::RunOnce(*model->executable, inputs);
  const auto expected = RunReference(graph, inputs);
  ASSERT_TRUE(found) << found.error().Format();
  ASSERT_TRUE(expected) << expected.error().Format();
  for (int64_t i = 0; i < expected->front().size(); ++i) {
    const double of_kernel = found->front().GetDouble(i), right = expected->front().GetDouble(i);
    ASSERT_TRUE(SameKind(of_kernel, right)) << i << ": " << of_kernel << ", not " << right;
  }
}

TEST(FiniteWeights, ResultsAreTheReferences) {
  if (!HasVectorsForTiles()) GTEST_SKIP() << "a machine without AVX-512";
  const auto as_it_is = [](Array&) {};
  const auto with_specials = [](Array& x) {
    const auto values = x.MutableAs<float>();
    values[3] = kInf;
    values[200] = -kInf;
    values[1000] = kNan;
    values[2000] = std::numeric_limits<float>::max();
    values[2600] = 0x1.8p-140F;
    values[5 * kLength + kLength - 1] =
        kInf;  // is multiplied by the special number among the weights
  };
  for (const std::string_view text : {kLayer, kTransposed}) {
    for (const float number : {0.F, 0x1.8p-140F, 0x1p-126F, 3.F, kInf, -kInf, kNan}) {
      const Graph graph = GraphWith(text, "w", number);
      ExpectSameAsReference(graph, as_it_is);
      ExpectSameAsReference(graph, with_specials);
    }
  }
}

int64_t PackedBytes(const GroupReport& group, const CompileOptions& options,
                    const std::string& schedule) {
  const auto steps = ParseSchedule(schedule, "schedule");
  TUNEC_CHECK(steps.has_value(), "{}", steps.error().Format());
  const auto kernel = CompileKernel(
      *FindLowering(group.lowerings, steps->lowering), *steps,
      {.target = options.target, .loops = {.rounding = RoundingFreedomFor(options.accuracy)}});
  TUNEC_CHECK(kernel.has_value(), "{}", kernel.error().Format());
  int64_t bytes = 0;
  for (const CompiledPrepack& prepack : kernel->prepacks) bytes += prepack.packed_bytes;
  return bytes;
}

TEST(FiniteWeights, TakeAPlaneLess) {
  for (const auto& [accuracy, planes] : {std::pair{"f32", 3}, std::pair{"tf32", 2}}) {
    const CompileOptions options = OptionsUnder(accuracy);
    const Graph graph = testing::GraphOf(kLayer);
    const auto model = Compile(graph, nullptr, options);
    ASSERT_TRUE(model) << model.error().Format();
    const std::string& schedule = model->report.kernels[0].schedule;
    ASSERT_THAT(schedule, HasSubstr("precision ")) << schedule;
    const auto front = RunFrontEnd(graph, options);
    GroupReport group = front->groups[0];
    const int64_t finite = PackedBytes(group, options, schedule);
    for (NamedCompute& lowering : group.lowerings) {
      for (Tensor& tensor : lowering.compute.tensors) tensor.finite = false;
    }
    EXPECT_EQ(finite * (planes + 1), PackedBytes(group, options, schedule) * planes) << accuracy;
    EXPECT_GT(finite, 0);
  }
}

}  // namespace
}  // namespace tunec
