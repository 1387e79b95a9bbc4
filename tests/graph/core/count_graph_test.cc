#include "graph/count_graph.h"

#include <gtest/gtest.h>

#include "graph/text/graph_text.h"

namespace tunec {
namespace {

GraphCounts Counted(const std::string& text) {
  const auto graph = ParseGraph(text, "g.graph", RandomWeights(1));
  EXPECT_TRUE(graph) << graph.error().Format();
  const auto counts = CountGraph(*graph);
  EXPECT_TRUE(counts) << counts.error().Format();
  return *counts;
}

TEST(CountGraph, OperandsOnceAndResults) {
  const GraphCounts counts = Counted(R"(graph g {
  input x: f32[4, 8]
  y = mul(x, x)
  z = cast(y) {to="f16"}
  output z
})");
  EXPECT_EQ(counts.nodes, 2);
  EXPECT_EQ(counts.bytes, (32 + 32) * 4 + 32 * 4 + 32 * 2);
  EXPECT_EQ(counts.parameters, 0);
}

TEST(CountGraph, ViewsMoveNothing) {
  const GraphCounts counts = Counted(R"(graph g {
  input x: f32[4, 8]
  input s: f32[4, 1]
  t = transpose(x) {perm=[1, 0]}
  r = reshape(t) {shape=[4, 8]}
  e = expand(s) {shape=[4, 8]}
  y = add(r, e)
  h = slice(y) {starts=[0, 0], ends=[2, 8], steps=[1, 1]}
  output h
})");
  EXPECT_EQ(counts.nodes, 5);
  EXPECT_EQ(counts.bytes, (32 + 4 + 32) * 4);
}

TEST(CountGraph, StatisticsScalarsAndDeadConstantsAreNoParameters) {
  const GraphCounts counts = Counted(R"(graph g {
  input x: f32[1, 3, 4, 4]
  weight w: f32[5, 3, 1, 1]
  weight scale: f32[5]
  weight bias: f32[5]
  weight mean: f32[5]
  weight variance: f32[5]
  weight unused: f32[1000]
  constant half: f32[] = 0.5
  constant places: i64[1] = [0]
  c = conv(x, w)
  n = batch_norm(c, scale, bias, mean, variance)
  y = mul(n, half)
  dead = neg(unused)
  g = gather(y, places) {axis=1}
  output g
})");
  EXPECT_EQ(counts.nodes, 5);
  EXPECT_EQ(counts.parameters, 15 + 5 + 5);
}

TEST(CountGraph, OpenDimensionsAreAnError) {
  const auto graph = ParseGraph("graph g {\n  input x: f32[n]\n  y = neg(x)\n  output y\n}",
                                "g.graph", NoWeights());
  ASSERT_TRUE(graph);
  const auto counts = CountGraph(*graph);
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().message,
            "input x of g has shape n, and the size of n is open: the option dims gives sizes, "
            "such as --dim n=8 of the command, dims={\"n\": 8} of Python, "
            "{\"dims\": {\"n\": 8}} of C");
}

}  // namespace
}  // namespace tunec
