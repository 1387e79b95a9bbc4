// Tests of the choice of values that are stored as bfloat16. Lowerings must use the stored type.
#include "graph/fuse/store_as_bf16.h"

#include <gmock/gmock.h>

#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

FusionPlan StoredPlan(const Graph& graph) {
  auto plan = PlanFusion(graph, FusionMode::kFused);
  EXPECT_TRUE(plan) << plan.error().Format();
  StoreAsBf16(graph, *plan);
  return *std::move(plan);
}

std::vector<ValueId> Stored(const Graph& graph) {
  std::vector<ValueId> values;
  for (const auto& [value, type] : StoredPlan(graph).stored) {
    EXPECT_EQ(type, DataType::kBF16);
    values.push_back(value);
  }
  return values;
}

ValueId Product(SampleGraph& g, ValueId x, int64_t rows, int64_t columns) {
  return g(Op::kMatmul, {x, g.Weight({rows, columns})});
}

TEST(StoreAsBf16, WhatAProductMultiplies) {
  SampleGraph g("g");
  const ValueId a = Product(g, g.Input({3, 16}), 16, 32);
  const Graph graph = g.Build({Product(g, a, 32, 5)});
  EXPECT_THAT(Stored(graph), testing::ElementsAre(a));
}

// The product's operand may also be read by a residual addition, which reads the rounded value.
TEST(StoreAsBf16, OtherReadersDoNotMatter) {
  SampleGraph g("g");
  const ValueId a = Product(g, g.Input({3, 16}), 16, 16);
  const ValueId b = Product(g, a, 16, 16);
  const Graph graph = g.Build({g(Op::kAdd, {b, a})});
  EXPECT_THAT(Stored(graph), testing::ElementsAre(a));
}

TEST(StoreAsBf16, NotWhatNoProductMultiplies) {
  SampleGraph g("g");
  const ValueId a = Product(g, g.Input({3, 16}), 16, 32);
  EXPECT_THAT(Stored(g.Build({g(Op::kSoftmax, {a})})), testing::IsEmpty());
}

TEST(StoreAsBf16, NotOutputsOfTheModel) {
  SampleGraph g("g");
  const ValueId a = Product(g, g.Input({3, 16}), 16, 32);
  EXPECT_THAT(Stored(g.Build({Product(g, a, 32, 5), a})), testing::IsEmpty());
}

// A depthwise convolution is not a product of matrices, because each channel is multiplied
// separately.
TEST(StoreAsBf16, NotForDepthwiseConvolutions) {
  SampleGraph g("g");
  const ValueId x = g.Input({1, 8, 9, 9});
  const ValueId a = g(Op::kConv, {x, g.Weight({16, 8, 1, 1})});
  const ValueId b = g(Op::kConv, {a, g.Weight({16, 1, 3, 3})}, {{"group", int64_t{16}}});
  const ValueId c = g(Op::kConv, {b, g.Weight({8, 16, 1, 1})});
  EXPECT_THAT(Stored(g.Build({c})), testing::ElementsAre(b));
}

// Rounding commutes with the maximum, so a value that is pooled for a product may be rounded.
TEST(StoreAsBf16, WhatIsPooledForAProduct) {
  SampleGraph g("g");
  const Attributes pool = {{"kernel", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  const ValueId a = g(Op::kConv, {g.Input({1, 8, 8, 8}), g.Weight({16, 8, 3, 3})});
  const ValueId b = g(Op::kMaxPool, {a}, pool);
  const ValueId c = g(Op::kConv, {b, g.Weight({16, 16, 1, 1})});
  const Graph graph = g.Build({g(Op::kMaxPool, {c}, pool)});
  EXPECT_THAT(Stored(graph), testing::UnorderedElementsAre(a, b));
}

// Both values are stored in the concatenation, whose storage has one type.
TEST(StoreAsBf16, ViewsAreStoredAsTheirOwner) {
  SampleGraph g("g");
  const ValueId x = g.Input({3, 16});
  const ValueId a = Product(g, x, 16, 16);
  const ValueId b = Product(g, x, 16, 16);
  const ValueId c = g(Op::kConcat, {a, b}, {{"axis", int64_t{0}}});
  const Graph graph = g.Build({Product(g, c, 16, 5), g(Op::kSoftmax, {b})});
  EXPECT_THAT(Stored(graph), testing::UnorderedElementsAre(a, b, c));
}

TEST(StoreAsBf16, ArgumentsOfLoweringsAreOfTheTypeThatIsStored) {
  SampleGraph g("g");
  const ValueId a = Product(g, g.Input({3, 16}), 16, 32);
  const Graph graph = g.Build({Product(g, a, 32, 5)});
  const FusionPlan plan = StoredPlan(graph);
  ASSERT_EQ(plan.groups.size(), 2U);
  const auto makes = Lower(graph, plan.groups[0]);
  const auto reads = Lower(graph, plan.groups[1]);
  ASSERT_TRUE(makes && reads);
  const auto type = [](const Lowering& lowering, std::string_view tensor) {
    return lowering.compute.tensors[*lowering.compute.FindTensor(tensor)].type;
  };
  EXPECT_EQ(type(makes->front(), "in0"), DataType::kF32);
  EXPECT_EQ(type(makes->front(), "out0"), DataType::kBF16);
  EXPECT_EQ(type(reads->front(), "in0"), DataType::kBF16);
  EXPECT_EQ(type(reads->front(), "out0"), DataType::kF32);
}

}  // namespace
}  // namespace tunec
