#include "graph/edge_layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/random_inputs.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using Sizes = std::vector<int64_t>;

constexpr const char* kImages = R"(graph images {
  input x: f32[2, 3, 5, 7]
  input s: f32[1, 3, 1, 1]
  y = mul(x, s)
  z = reduce_sum(y) {axes=[1], keepdims=0}
  output y
  output twice = y
  output z
})";

Graph Parsed(const std::string& text) {
  auto graph = ParseGraph(text, "g.graph", RandomWeights(1));
  EXPECT_TRUE(graph) << graph.error().Format();
  return *graph;
}

// Returns the transposed array, computed by a graph with one transpose.
Array Transposed(const Array& array, const AxisOrder& order) {
  GraphBuilder builder("transposed");
  ValueType type{array.type(), {array.shape().begin(), array.shape().end()}};
  const ValueId x = *builder.AddInput("x", type);
  builder.AddOutput(*builder.Add(Op::kTranspose, {x}, {{"perm", order}}));
  const Graph graph = std::move(builder).Build();
  return (*RunReference(graph, std::span(&array, 1)))[0];
}

void ExpectSameBytes(const Array& one, const Array& other) {
  ASSERT_EQ(one.shape(), other.shape());
  EXPECT_TRUE(std::equal(one.data(), one.data() + one.bytes(), other.data()));
}

TEST(EdgeLayouts, TheSameModelOfTensorsThatLieOtherwise) {
  const Graph graph = Parsed(kImages);
  const auto converted =
      ApplyEdgeLayouts(graph, {{"x", "channels_last"}, {"y", "0,2,3,1"}, {"z", "2,1,0"}});
  ASSERT_TRUE(converted) << converted.error().message;
  ASSERT_TRUE(Verify(*converted));
  const Value& x = converted->value(converted->inputs()[0]);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type.Shape(), Sizes({2, 5, 7, 3}));
  EXPECT_EQ(converted->output_names(), graph.output_names());
  EXPECT_EQ(converted->value(converted->outputs()[0]).type.Shape(), Sizes({2, 5, 7, 3}));
  EXPECT_EQ(converted->value(converted->outputs()[1]).type.Shape(), Sizes({2, 3, 5, 7}));

  std::vector<Array> inputs = *RandomInputs(graph, 3);
  const auto expected = *RunReference(graph, inputs);
  inputs[0] = Transposed(inputs[0], {0, 2, 3, 1});
  const auto actual = RunReference(*converted, inputs);
  ASSERT_TRUE(actual) << actual.error().message;
  ExpectSameBytes((*actual)[0], Transposed(expected[0], {0, 2, 3, 1}));
  ExpectSameBytes((*actual)[1], expected[1]);
  ExpectSameBytes((*actual)[2], Transposed(expected[2], {2, 1, 0}));
}

TEST(EdgeLayouts, NothingIsDoneForRowMajor) {
  const Graph graph = Parsed(kImages);
  EXPECT_TRUE(ApplyEdgeLayouts(graph, {})->IsSameObject(graph));
  EXPECT_EQ(Print(*ApplyEdgeLayouts(graph, {{"x", "row_major"}, {"z", "0,1,2"}})), Print(graph));
}

TEST(EdgeLayouts, RejectsOtherNamesAndOrders) {
  const Graph graph = Parsed(kImages);
  EXPECT_EQ(ApplyEdgeLayouts(graph, {{"w", "channels_last"}}).error().message,
            "a layout is given for 'w', expected the name of an input or output");
  const auto wrong = ApplyEdgeLayouts(graph, {{"z", "0,2,3,1"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(wrong.error().message, HasSubstr("the layout of 'z' is '0,2,3,1', expected"));
}

}  // namespace
}  // namespace tunec
