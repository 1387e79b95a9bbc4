// Tests of PadGraph. Padded graphs give the results of the exact graphs, and unaffected nodes are
// not changed. Rejections have the expected messages. Conditions exclude sizes at which results
// would be wrong.
#include "graph/pad/pad_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text/graph_text.h"
#include "tests/graph/pad/graph_at_sizes.h"

namespace tunec {
namespace {

using test::CountOf;
using test::ExpectExact;
using test::ExpectExactWhereItFits;
using test::ExpectOneGraph;
using test::GraphAt;
using test::NamedGraph;
using test::PadText;
using test::RejectionOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const SizeValues kSmall = {{"B", 2}, {"L", 5}};
const SizeValues kLarge = {{"B", 3}, {"L", 8}};
const SizeExpr kB = SizeExpr::Named("B"), kL = SizeExpr::Named("L");

/// Returns the text of a graph with these input lines and the node `y`, which is the output.
std::string Node(const std::string& inputs, const std::string& node) {
  return fmt::format("graph g {{\n{}\n  y = {}\n  output y\n}}", inputs, node);
}

std::string OfX(const std::string& type, const std::string& node) {
  return Node(fmt::format("  input x: {}", type), node);
}

PaddedGraph ExpectExactNode(const std::string& type, const std::string& node) {
  return ExpectExact(OfX(type, node), kSmall, kLarge);
}

std::string RejectedNode(const std::string& type, const std::string& node) {
  return RejectionOf(OfX(type, node), kLarge);
}

TEST(PadGraph, LeavesAloneWhatMixesNothing) {
  const std::string text = R"(graph g {
  input x: f32[B, L, 4]
  input w: f32[4, 3]
  m = matmul(x, w)
  r = relu(m)
  t = transpose(r) {perm=[1, 0, 2]}
  f = reshape(t) {shape=[B*L, 3]}
  s = softmax(f) {axis=1}
  output s
})";
  const PaddedGraph padded = ExpectExact(text, kSmall, kLarge);
  EXPECT_EQ(Print(padded.graph), Print(GraphAt(NamedGraph(text), kLarge)));
  EXPECT_THAT(padded.parameters, IsEmpty());
  EXPECT_THAT(padded.separable, ElementsAre("B", "L"));
  ASSERT_EQ(padded.outputs.size(), 1U);
  EXPECT_EQ(padded.outputs[0][0], (PaddedAxis{{8, kL}, {3, kB}}));
}

TEST(PadGraph, ReductionsTakeNeutralElements) {
  for (const char* op : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod",
                         "reduce_l1", "reduce_l2", "reduce_sum_square", "reduce_log_sum_exp"}) {
    for (const char* axes : {"[1]", "[0, 1]", "[0, 2]", "[0, 1, 2]"}) {
      const std::string node = fmt::format("{}(x) {{axes={}, keepdims=0}}", op, axes);
      const PaddedGraph padded = ExpectExactNode("f32[B, L, 4]", node);
      EXPECT_GE(CountOf(padded.graph, Op::kWhere), 1) << node;
    }
  }
  for (const char* op : {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_l1"}) {
    for (const char* type : {"i8", "i32", "i64", "u8", "u64"})
      ExpectExactNode(fmt::format("{}[B, L]", type), fmt::format("{}(x) {{axes=[1]}}", op));
  }
}

TEST(PadGraph, ReductionsOfFixedAxesTakeNothing) {
  const PaddedGraph padded =
      ExpectExactNode("f32[B, L, 4]", "reduce_mean(x) {axes=[2], keepdims=0}");
  EXPECT_EQ(CountOf(padded.graph, Op::kWhere), 0);
  EXPECT_THAT(padded.parameters, IsEmpty());
}

TEST(PadGraph, MeansOfSixteenBitsDoNotOverflow) {
  ExpectExact(R"(graph g {
  input x: f16[L, 3]
  constant large: f16[] = 30000
  a = abs(x)
  s = clip(a) {min=0.5, max=1}
  b = mul(s, large)
  y = reduce_mean(b) {axes=[0]}
  output y
})",
              {{"L", 20}}, {{"L", 32}});
}

TEST(PadGraph, MeansOfIntegers) {
  EXPECT_THAT(RejectedNode("i32[L]", "reduce_mean(x) {axes=[0]}"),
              HasSubstr("node y (reduce_mean) cannot be padded: it is a mean of integers"));
}

TEST(PadGraph, SoftmaxOverOpenAxes) {
  for (const char* op : {"softmax", "log_softmax"}) {
    for (const int axis : {0, 1, 2})
      ExpectExactNode("f32[B, L, 3]", fmt::format("{}(x) {{axis={}}}", op, axis));
  }
}

TEST(PadGraph, SoftmaxLeavesZeros) {
  const PaddedGraph padded = ExpectExact(R"(graph g {
  input x: f32[B, L, L]
  input v: f32[B, L, 4]
  s = softmax(x) {axis=2}
  y = matmul(s, v)
  output y
})",
                                         kSmall, kLarge);
  // The scores and v are masked, but not softmax's result.
  EXPECT_EQ(CountOf(padded.graph, Op::kWhere), 2);
  EXPECT_THAT(padded.separable, ElementsAre("B"));
}

TEST(PadGraph, PlacesOfExtremes) {
  for (const char* type : {"f32", "i32", "u8"}) {
    for (const char* op : {"argmax", "argmin"})
      ExpectExactNode(fmt::format("{}[B, L]", type), fmt::format("{}(x) {{axis=1}}", op));
  }
  for (const char* op : {"argmax", "argmin"})
    ExpectExactNode("f32[B, L]", fmt::format("{}(x) {{axis=1, select_last_index=1}}", op));
}

// All exact elements are equal. If they are -inf, they also equal the neutral elements of the
// padding.
TEST(PadGraph, PlacesOfTheLastOfEqualOnes) {
  for (const char* least : {"-inf", "-1000"}) {
    ExpectExact(fmt::format(R"(graph g {{
  input x: f32[L]
  constant same: f32[] = {}
  all = expand(same) {{shape=[L]}}
  e = min(all, x)
  y = argmax(e) {{axis=0, select_last_index=1}}
  output y
}})",
                            least),
                kSmall, kLarge);
  }
}

TEST(PadGraph, RunningSums) {
  for (const int exclusive : {0, 1}) {
    for (const int reverse : {0, 1}) {
      const PaddedGraph padded = ExpectExactNode(
          "f32[B, L]",
          fmt::format("cumsum(x) {{axis=1, exclusive={}, reverse={}}}", exclusive, reverse));
      EXPECT_EQ(CountOf(padded.graph, Op::kWhere), reverse);
    }
  }
}

TEST(PadGraph, NormsOfFixedAxes) {
  const std::string inputs = "  input x: f32[B, L, 4]\n  input s: f32[4]\n  input b: f32[4]";
  for (const char* node : {"layer_norm(x, s, b) {axis=2}", "rms_norm(x, s) {axis=2}"}) {
    const PaddedGraph padded = ExpectExact(Node(inputs, node), kSmall, kLarge);
    EXPECT_EQ(CountOf(padded.graph, Op::kWhere), 0);
    EXPECT_THAT(padded.separable, ElementsAre("B", "L"));
  }
}

TEST(PadGraph, NormsOfOpenAxes) {
  const std::string inputs =
      "  input x: f32[B, L, 3]\n  input s: f32[L, 3]\n  input b: f32[L, 3]\n"
      "  input t: f32[3]\n  input all: f32[1, 1, 1]";
  for (const char* node :
       {"layer_norm(x, s, b) {axis=1}", "rms_norm(x, s) {axis=1}", "layer_norm(x, t) {axis=1}",
        "layer_norm(x, all, all) {axis=0, epsilon=0.25}", "rms_norm(x, t) {axis=0}"}) {
    const PaddedGraph padded = ExpectExact(Node(inputs, node), kSmall, kLarge);
    EXPECT_THAT(padded.separable, ::testing::Not(::testing::Contains("L"))) << node;
  }
  const std::string halves = "  input x: f16[2, L]\n  input s: f16[L]";
  ExpectExact(Node(halves, "layer_norm(x, s, s)"), {{"L", 300}}, {{"L", 320}});
}

TEST(PadGraph, NormsOfOpenImages) {
  const std::string inputs = "  input x: f32[B, 4, H, W]\n  input s: f32[4]\n  input b: f32[4]";
  for (const char* node : {"instance_norm(x, s, b)", "group_norm(x, s, b) {groups=2}",
                           "group_norm(x, s, b) {groups=1, epsilon=0.5}"}) {
    const PaddedGraph padded = ExpectExact(Node(inputs, node), {{"B", 2}, {"H", 5}, {"W", 3}},
                                           {{"B", 3}, {"H", 9}, {"W", 4}});
    EXPECT_THAT(padded.separable, ElementsAre("B"));
  }
  const PaddedGraph fixed = ExpectExact(
      Node("  input x: f32[B, 4, 3]\n  input s: f32[4]", "instance_norm(x, s, s)"), kSmall, kLarge);
  EXPECT_EQ(CountOf(fixed.graph, Op::kInstanceNorm), 1);
}

TEST(PadGraph, ProductsOverOpenAxes) {
  const std::string inputs = "  input x: f32[B, 3, L]\n  input w: f32[L, 4]";
  const PaddedGraph padded = ExpectExact(Node(inputs, "matmul(x, w)"), kSmall, kLarge);
  EXPECT_EQ(CountOf(padded.graph, Op::kWhere), 2);
  const std::string turned = "  input x: f32[B, L, 3]\n  input w: f32[4, L]";
  ExpectExact(Node(turned, "matmul(x, w) {transpose_a=1, transpose_b=1}"), kSmall, kLarge);
  ExpectExact(Node("  input x: f32[L]\n  input w: f32[L]", "matmul(x, w)"), kSmall, kLarge);
}

// A matrix of one repeated element is padded as the matrix that it multiplies.
TEST(PadGraph, ProductsOfRepeatedElements) {
  ExpectExact(R"(graph g {
  input x: f32[B, L, 3]
  input one: f32[1]
  row = expand(one) {shape=[2, B*L]}
  flat = reshape(x) {shape=[B*L, 3]}
  y = matmul(row, flat)
  output y
})",
              kSmall, kLarge);
}

TEST(PadGraph, RepeatedElementsThatBecameDifferent) {
  const std::string text = R"(graph g {
  input x: f32[B, L]
  input one: f32[1]
  row = expand(one) {shape=[B*L]}
  sums = cumsum(row) {axis=0}
  flat = reshape(x) {shape=[B*L]}
  y = add(sums, flat)
  output y
})";
  EXPECT_THAT(RejectionOf(text, kLarge), HasSubstr("lie differently along an axis"));
}

std::string AttentionText(const std::string& mask, const std::string& attributes) {
  return fmt::format(R"(graph g {{
  input q: f32[B, 2, L, 3]
  input k: f32[B, 2, T, 3]
  input v: f32[B, 2, T, 4]
{}
  y = attention(q, k, v{}) {{{}}}
  output y
}})",
                     mask.empty() ? "" : "  input m: " + mask, mask.empty() ? "" : ", m",
                     attributes);
}

TEST(PadGraph, AttentionHidesKeys) {
  const SizeValues small = {{"B", 2}, {"L", 3}, {"T", 5}}, large = {{"B", 3}, {"L", 6}, {"T", 9}};
  for (const char* mask :
       {"", "bool[B, 1, L, T]", "bool[T]", "f32[B, 1, 1, T]", "f32[L, 1]", "bool[1, 1]"}) {
    for (const char* attributes : {"scale=0.5", "causal=1, empty_rows=\"zero\"",
                                   "causal=1, causal_offset=2", "softcap=1.5"}) {
      const PaddedGraph padded = ExpectExact(AttentionText(mask, attributes), small, large);
      const bool is_causal = std::string_view(attributes).starts_with("causal");
      const std::set<std::string> rows = {"B", "L"};
      EXPECT_EQ(padded.separable, is_causal ? std::set<std::string>{"B"} : rows);
    }
  }
}

TEST(PadGraph, CausalAttentionNeedsNoMask) {
  const std::string text = R"(graph g {
  input q: f32[2, L, 3]
  y = attention(q, q, q) {causal=1}
  output y
})";
  const PaddedGraph padded = ExpectExact(text, kSmall, kLarge);
  EXPECT_EQ(CountOf(padded.graph, Op::kAttention), 1);
  EXPECT_EQ(CountOf(padded.graph, Op::kWhere), 1);  // masks the attention's values
}

// If all keys of a row are hidden by a finite number, they all have the same weight.
TEST(PadGraph, AttentionThatHidesByANumber) {
  const std::string text = R"(graph g {
  input q: f32[L, 3]
  y = attention(q, q, q) {causal=1, causal_offset=-2, hidden=-4.0}
  output y
})";
  const auto padded = PadText(text, kLarge);
  if (padded) {
    ExpectExact(text, kSmall, kLarge);
  } else {
    EXPECT_THAT(padded.error().message, HasSubstr("counts with a finite score"));
  }
}

TEST(PadGraph, Windows) {
  const std::string inputs = "  input x: f32[B, 2, L, 6]\n  input w: f32[3, 2, 3, 3]";
  const PaddedGraph inside = ExpectExact(Node(inputs, "conv(x, w)"), kSmall, kLarge);
  EXPECT_EQ(CountOf(inside.graph, Op::kWhere), 0);
  for (const char* attributes : {"pads=[1, 1, 1, 1]", "pads=[0, 0, 2, 0], strides=[2, 1]",
                                 "strides=[3, 2]", "pads=[1, 0, 2, 1], dilations=[2, 1]"}) {
    const PaddedGraph padded =
        ExpectExact(Node(inputs, fmt::format("conv(x, w) {{{}}}", attributes)), kSmall, kLarge);
    EXPECT_THAT(padded.separable, ElementsAre("B"));
    for (const char* op : {"max_pool", "average_pool"}) {
      const std::string pool = fmt::format("{}(x) {{kernel=[3, 3], {}{}}}", op, attributes,
                                           op[0] == 'a' ? ", count_include_pad=1" : "");
      ExpectExactNode("f32[B, 2, L, 6]", pool);
    }
  }
  const std::string back = "  input x: f32[B, 2, L]\n  input w: f32[2, 3, 3]";
  ExpectExact(Node(back, "conv_transpose(x, w) {strides=[2], pads=[1, 0]}"), kSmall, kLarge);
}

TEST(PadGraph, ReshapesJoinAndSplit) {
  const PaddedGraph padded = ExpectExact(R"(graph g {
  input x: f32[B, L, 4]
  a = reshape(x) {shape=[B*L, 2, 2]}
  b = reshape(a) {shape=[B, L, 4]}
  c = reduce_sum(b) {axes=[1]}
  output a
  output c
})",
                                         kSmall, kLarge);
  EXPECT_EQ(padded.outputs[0][0], (PaddedAxis{{3, kB}, {8, kL}}));
  ExpectExact(OfX("f32[L, 4]", "reshape(x) {shape=[L*4]}"), kSmall, kLarge);
  ExpectExact(OfX("f32[6, L]", "reshape(x) {shape=[2, 3, 1, L]}"), kSmall, kLarge);
}

TEST(PadGraph, ReshapesOfMergedAxesMaskByBoth) {
  ExpectExact(R"(graph g {
  input x: f32[B, L, 4]
  a = reshape(x) {shape=[B*L, 4]}
  y = softmax(a) {axis=0}
  output y
})",
              kSmall, kLarge);
}

TEST(PadGraph, ReshapesThatDoNotFit) {
  // At L = 6, the 6 exact of 10 elements should be two rows of 3, but fill a row of 5 and begin the
  // next.
  EXPECT_THAT(RejectionOf(OfX("f32[L]", "reshape(x) {shape=[2, L/2]}"), {{"L", 10}}),
              HasSubstr("it puts parts of dimensions together that do not fit"));
  ExpectExact(OfX("f32[L]", "reshape(x) {shape=[L/2, 2]}"), {{"L", 6}}, {{"L", 10}});
}

TEST(PadGraph, SlicesFromEitherEnd) {
  const auto slice = [](const std::string& start, const std::string& end, const char* step) {
    return OfX("f32[2, L]", fmt::format("slice(x) {{starts=[0, {}], ends=[2, {}], steps=[1, {}]}}",
                                        start, end, step));
  };
  for (const std::string& text :
       {slice("0", "3", "1"), slice("0", "L - 1", "1"), slice("L - 1", "L", "1"),
        slice("1", "L", "1"), slice("L - 3", "L", "1"), slice("L - 1", "-1", "-1"),
        slice("0", "L", "2"), slice("L - 2", "-1", "-2"), slice("1", "4", "1"),
        slice("0", "L/2", "1"), slice("L/2", "L", "1")})
    ExpectExact(text, kSmall, kLarge);
}

TEST(PadGraph, ConcatenatesWithoutGaps) {
  const std::string inputs =
      "  input x: f32[B, L, 2]\n  input a: f32[B, 3, 2]\n  input z: f32[B, T, 2]";
  const SizeValues small = {{"B", 2}, {"L", 5}, {"T", 1}}, large = {{"B", 3}, {"L", 8}, {"T", 4}};
  for (const char* operands : {"a, x", "x, a", "x, z", "x, a, z", "a, z, x, x"})
    ExpectExact(Node(inputs, fmt::format("concat({}) {{axis=1}}", operands)), small, large);
  const PaddedGraph behind = ExpectExact(Node(inputs, "concat(a, x) {axis=1}"), small, large);
  EXPECT_EQ(CountOf(behind.graph, Op::kGather), 0);
}

// In a run, the padding of an input is 0, which is a valid index. Computed indices are set to 0
// there, so that they are not counted as out of range. A run may still be split.
TEST(PadGraph, ComputedIndicesAreZeroBeyond) {
  for (const char* lookup : {"gather(t, n)", "gather_elements(t, n)"}) {
    const auto pad = [&](const char* n) {
      return ExpectExact(Node("  input t: f32[6]\n  input i: i64[L]\n  constant two: i64[] = 2\n"
                              "  n = " +
                                  std::string(n),
                              lookup),
                         kSmall, kLarge);
    };
    const PaddedGraph computed = pad("sub(i, two)");
    EXPECT_EQ(CountOf(computed.graph, Op::kWhere), 1) << lookup;
    EXPECT_THAT(computed.separable, ElementsAre("L")) << lookup;
    const PaddedGraph given = pad("identity(i)");
    EXPECT_EQ(CountOf(given.graph, Op::kWhere), 0) << lookup;
    EXPECT_THAT(given.parameters, IsEmpty()) << lookup;
  }
}

TEST(PadGraph, PadsBeyondTheExactEnd) {
  ExpectExactNode("f32[2, L]", "pad(x) {pads=[0, 1, 0, 2], value=3}");
  ExpectExactNode("f32[2, L]", "pad(x) {pads=[0, -1, 0, -1]}");
  ExpectExactNode("f32[2, L]", "pad(x) {pads=[0, 0, 0, 16 - L], value=1}");
  ExpectExactNode("f32[2, L]", "pad(x) {pads=[0, 16 - L, 0, 0]}");
  ExpectExactNode("f32[2, L]", "pad(x) {pads=[1, 16 - L, 0, 3], value=2}");
}

TEST(PadGraph, PadsRepeatElementsOfOpenAxes) {
  for (const char* mode : {"reflect", "edge", "wrap"}) {
    for (const char* pads : {"[0, 1, 0, 0]", "[0, 0, 0, 3]", "[1, 2, 0, 4]"})
      ExpectExactNode("f32[2, L]", fmt::format("pad(x) {{pads={}, mode=\"{}\"}}", pads, mode));
  }
  EXPECT_THAT(RejectedNode("f32[2, L]", "pad(x) {pads=[0, -1, 0, 1], mode=\"edge\"}"),
              HasSubstr("it repeats elements of an open dimension, and cuts it"));
}

TEST(PadGraph, TilesFixedAxes) { ExpectExactNode("f32[B, 3]", "tile(x) {repeats=[1, 2]}"); }

TEST(PadGraph, TilesOpenAxes) {
  ExpectExactNode("f32[B, 3]", "tile(x) {repeats=[2, 1]}");
  ExpectExactNode("f32[B, L]", "tile(x) {repeats=[3, 2]}");
  ExpectExactNode("f32[3, L]", "tile(x) {repeats=[B, L]}");
}

TEST(PadGraph, IndicesCountFromTheExactEnd) {
  const std::string x = "  input x: f32[L, 3]\n";
  ExpectExact(Node(x + "  constant i: i64[3] = [-1, 0, -5]", "gather(x, i) {axis=0}"), kSmall,
              kLarge);
  // Indices that are out of range at run time are clamped to the exact range.
  ExpectExact(R"(graph g {
  input x: f32[L, 3]
  input i: i64[4]
  constant seven: i64[] = 7
  far = mul(i, seven)
  y = gather(x, far) {axis=0}
  output y
})",
              kSmall, kLarge);
  ExpectExact(Node(x + "  i = range() {start=L - 1, limit=-1, delta=-2, to=\"i64\"}",
                   "gather(x, i) {axis=0}"),
              kSmall, kLarge);
  ExpectExact(Node("  input x: f32[7, 3]\n  input i: i64[B, L]", "gather(x, i) {axis=0}"), kSmall,
              kLarge);
}

TEST(PadGraph, IndicesOfFewBitsIntoLongAxes) {
  for (const char* type : {"u8", "i8"})
    ExpectExact(
        Node(fmt::format("  input x: f32[L]\n  input i: {}[6]", type), "gather(x, i) {axis=0}"),
        {{"L", 300}}, {{"L", 512}});
}

TEST(PadGraph, ElementsByIndicesThatAreRepeated) {
  ExpectExact(R"(graph g {
  input x: f32[B, L, 2]
  input i: i64[1, 3]
  flat = reshape(x) {shape=[B*L, 2]}
  wide = expand(i) {shape=[B*L, 3]}
  found = gather_elements(flat, wide) {axis=1}
  y = reshape(found) {shape=[B, L, 3]}
  output y
})",
              kSmall, kLarge);
}

TEST(PadGraph, IndicesOfMergedAxesCountExactElements) {
  for (const char* indices : {"input i: i64[20]", "constant i: i64[4] = [0, 9, 7, -1]"}) {
    ExpectExact(fmt::format(R"(graph g {{
  input x: f32[B, L, 2]
  {}
  constant three: i64[] = 3
  j = mul(i, three)
  flat = reshape(x) {{shape=[B*L, 2]}}
  y = gather(flat, i)
  z = gather(flat, j)
  output y
  output z
}})",
                            indices),
                kSmall, kLarge);
  }
}

TEST(PadGraph, DividesIntegersByNoGarbage) {
  for (const char* op : {"div", "mod"}) {
    const std::string text = fmt::format(R"(graph g {{
  input x: i32[L]
  input n: i32[L]
  constant one: i32[] = 1
  some = add(n, one)
  y = {}(x, some)
  output y
}})",
                                         op);
    ExpectExact(text, kSmall, kLarge);
  }
}

/// Returns the line of a range `r` with f32 elements.
std::string Range(const std::string& start, const std::string& limit, int delta = 1) {
  return fmt::format("  r = range() {{start={}, limit={}, delta={}, to=\"f32\"}}", start, limit,
                     delta);
}

TEST(PadGraph, RangesOfTheSizes) {
  const std::string x = "  input x: f32[B, L]\n";
  ExpectExact(Node(x + Range("0", "L"), "mul(x, r)"), kSmall, kLarge);
  const PaddedGraph count = ExpectExact(Node(x + Range("L", "L + 1"), "div(x, r)"), kSmall, kLarge);
  ASSERT_EQ(count.parameters.size(), 1U);
  EXPECT_EQ(count.parameters[0].value, kL);
  // A range may have as many elements as a flattened matrix.
  ExpectExact(fmt::format(R"(graph g {{
  input x: f32[B, L]
{}
  flat = reshape(x) {{shape=[B*L]}}
  y = neg(flat)
  output y
  output r
}})",
                          Range("0", "B*L")),
              kSmall, kLarge);
}

TEST(PadGraph, RangesThatCountDown) {
  for (const std::string y : {"add(x, r)", "concat(x, r) {axis=0}", "concat(r, x) {axis=0}",
                              "reduce_sum(r) {axes=[0]}", "reduce_mean(r) {axes=[0]}"})
    ExpectExact(Node("  input x: f32[L]\n" + Range("L", "0", -1), y), kSmall, kLarge);
}

TEST(PadGraph, OneHot) { ExpectExactNode("i64[L]", "one_hot(x) {depth=4, axis=-1}"); }

TEST(PadGraph, ResizesFixedAxes) {
  ExpectExactNode("f32[B, 2, 3, 4]", "resize(x) {shape=[B, 2, 6, 8], mode=\"linear\"}");
}

// If a run were split, each part would have the first elements of the range, or multiply by the
// part's size.
TEST(PadGraph, SizesOfRangesAreNotSeparable) {
  for (const std::string& range : {Range("0", "L - 1"), Range("0", "L"), Range("L", "L + 1")}) {
    const std::string text = fmt::format(R"(graph g {{
  input x: f32[B, L]
{}
  y = relu(x)
  z = neg(r)
  output y
  output z
}})",
                                         range);
    EXPECT_THAT(ExpectExact(text, kSmall, kLarge).separable, ElementsAre("B")) << range;
  }
}

TEST(PadGraph, MatrixOfADimensionByItselfIsNotSeparable) {
  const PaddedGraph padded = ExpectExact(R"(graph g {
  input x: f32[L, 1]
  t = reshape(x) {shape=[1, L]}
  y = mul(x, t)
  output y
})",
                                         kSmall, kLarge);
  EXPECT_THAT(padded.separable, IsEmpty());
}

// A BERT block with embeddings, attention with a token mask, a feed-forward pair, and the mean over
// the tokens.
constexpr const char* kBertBlock = R"(graph bert {
  input ids: i64[B, L]
  input seen: f32[B, L]
  weight words: f32[11, 8] init=uniform(-0.9, 0.9)
  word = gather(words, ids) {axis=0}
  weight table: f32[16, 8] init=uniform(-0.9, 0.9)
  place = slice(table) {starts=[0, 0], ends=[L, 8]}
  embedded = add(word, place)
  weight ns: f32[8] init=uniform(0.8, 1.2)
  weight nb: f32[8] init=uniform(-0.1, 0.1)
  x = layer_norm(embedded, ns, nb) {axis=-1}
  weight wq: f32[8, 8] init=uniform(-0.6, 0.6)
  weight wk: f32[8, 8] init=uniform(-0.6, 0.6)
  weight wv: f32[8, 8] init=uniform(-0.6, 0.6)
  qm = matmul(x, wq)
  qs = reshape(qm) {shape=[B, L, 2, 4]}
  q = transpose(qs) {perm=[0, 2, 1, 3]}
  km = matmul(x, wk)
  ks = reshape(km) {shape=[B, L, 2, 4]}
  k = transpose(ks) {perm=[0, 2, 3, 1]}
  vm = matmul(x, wv)
  vs = reshape(vm) {shape=[B, L, 2, 4]}
  v = transpose(vs) {perm=[0, 2, 1, 3]}
  scores = matmul(q, k)
  constant half: f32[] = 0.5
  scaled = mul(scores, half)
  constant one: f32[] = 1
  unseen = sub(one, seen)
  constant low: f32[] = -10000
  hidden = mul(unseen, low)
  mask = reshape(hidden) {shape=[B, 1, 1, L]}
  masked = add(scaled, mask)
  weights = softmax(masked) {axis=3}
  mixed = matmul(weights, v)
  back = transpose(mixed) {perm=[0, 2, 1, 3]}
  merged = reshape(back) {shape=[B*L, 8]}
  weight up: f32[8, 16] init=uniform(-0.6, 0.6)
  wide = matmul(merged, up)
  active = gelu(wide)
  weight down: f32[16, 8] init=uniform(-0.6, 0.6)
  narrow = matmul(active, down)
  states = reshape(narrow) {shape=[B, L, 8]}
  sum = add(states, x)
  y = layer_norm(sum, ns, nb) {axis=-1}
  pooled = reduce_mean(y) {axes=[1], keepdims=0}
  last = slice(y) {starts=[0, L - 1, 0], ends=[B, L, 8]}
  output y
  output pooled
  output last
})";

TEST(PadGraph, BertBlockOfAnyBatchAndLength) {
  const PaddedGraph padded = ExpectOneGraph(kBertBlock, {{"B", 4}, {"L", 16}},
                                            {{{"B", 3}, {"L", 7}},
                                             {{"B", 1}, {"L", 1}},
                                             {{"B", 2}, {"L", 15}},
                                             {{"B", 3}, {"L", 3}},
                                             {{"B", 4}, {"L", 2}},
                                             {{"B", 1}, {"L", 16}}});
  EXPECT_THAT(padded.separable, ElementsAre("B"));
}

TEST(PadGraph, SizesThatMeetMustBeEqual) {
  const std::string inputs = "  input x: f32[n]\n  input z: f32[m]";
  const std::vector<SizeValues> fitting =
      ExpectExactWhereItFits(Node(inputs, "add(x, z)"), {{"n", 5}, {"m", 5}});
  EXPECT_EQ(fitting.size(), 5U);
  for (const SizeValues& sizes : fitting) EXPECT_EQ(sizes.at("n"), sizes.at("m"));
}

// The result has 1 element in the bucket, and 0 to 3 at smaller sizes.
TEST(PadGraph, ExtentsFitTheBucketAndAreNotZero) {
  const std::vector<SizeValues> fitting =
      ExpectExactWhereItFits(OfX("f32[n]", "slice(x) {starts=[0], ends=[n mod 4]}"), {{"n", 13}});
  EXPECT_FALSE(fitting.empty());
  for (const SizeValues& sizes : fitting) EXPECT_EQ(sizes.at("n") % 4, 1);
}

// Of these 36 sizes, only n = 1 makes an extent of 0: n/2.
TEST(PadGraph, ExtentsThatGrowWithSizesNeedNoCondition) {
  const std::pair<const char*, size_t> nodes[] = {
      {"slice(x) {starts=[0, 0], ends=[min(n, 8), m]}", 36},
      {"slice(x) {starts=[0, 0], ends=[n/2, m]}", 33},
      {"pad(x) {pads=[0, 0, max(4 - n, 0), 0]}", 36},
      {"range() {start=0, limit=max(n, 4), delta=1, to=\"i32\"}", 36},
      {"reshape(x) {shape=[n*m]}", 36}};
  for (const auto& [node, count] : nodes) {
    const auto fitting = ExpectExactWhereItFits(OfX("f32[n, m]", node), {{"n", 12}, {"m", 3}});
    EXPECT_EQ(fitting.size(), count) << node;
  }
}

// A second output sums the result's first axis, so elements that are not exact matter.
TEST(PadGraph, DerivedSizes) {
  const std::vector<std::string> nodes = {
      "slice(x) {starts=[0, 0], ends=[min(n, 5), m]}",
      "slice(x) {starts=[0, 0], ends=[max(n - 3, 1), m]}",
      "slice(x) {starts=[n/2, 0], ends=[n, m]}",
      "slice(x) {starts=[n/3, 0], ends=[n - n/3, m]}",
      "slice(x) {starts=[n mod 3, 0], ends=[n, m]}",
      "slice(x) {starts=[n - 1 - n mod 4, 0], ends=[n, m]}",
      "slice(x) {starts=[0, 0], ends=[n, (m + 1)/2], steps=[2, 1]}",
      "slice(x) {starts=[n - 1, 0], ends=[n/2 - 1, m], steps=[-2, 1]}",
      "slice(x) {starts=[0, 0], ends=[min(n/2 + 1, 4), min(m, n)]}",
      "pad(x) {pads=[0, 0, max(8 - n, 0), 0], value=2}",
      "pad(x) {pads=[0, 0, (4 - n mod 4) mod 4, m/2]}",
      "pad(x) {pads=[n mod 2, 0, n mod 3, 0], value=1}",
      "pad(x) {pads=[n/2, 0, -(n/2), 0]}",
      "reshape(x) {shape=[n*m]}",
      "reshape(x) {shape=[n/2, 2, m]}",
      "reshape(x) {shape=[n, m/2, 2]}",
      "expand(one) {shape=[max(n, m), n/2]}",
      "range() {start=0, limit=min(n, m), delta=1, to=\"f32\"}",
      "range() {start=n/2, limit=n*m, delta=1, to=\"f32\"}",
      "range() {start=n mod 5, limit=n + 1, delta=2, to=\"f32\"}",
      "range() {start=max(n/2, m mod 3), limit=0, delta=-1, to=\"f32\"}",
  };
  for (const std::string& node : nodes) {
    const std::string text = fmt::format(R"(graph g {{
  input x: f32[n, m]
  input one: f32[1]
  y = {}
  total = reduce_sum(y) {{axes=[0]}}
  output y
  output total
}})",
                                         node);
    EXPECT_FALSE(ExpectExactWhereItFits(text, {{"n", 12}, {"m", 4}}).empty()) << node;
  }
}

}  // namespace
}  // namespace tunec
