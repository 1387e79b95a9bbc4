#include "graph/fuse/plan_views.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

const Attributes kRows = {{"axis", int64_t{0}}};
const Attributes kColumns = {{"axis", int64_t{1}}};

FusionPlan PlanOf(const Graph& graph) {
  auto plan = PlanFusion(graph, FusionMode::kFused);
  EXPECT_TRUE(plan) << plan.error().Format();
  return *std::move(plan);
}

const StorageView* Find(const FusionPlan& plan, ValueId value) {
  for (const StorageView& view : plan.views)
    if (view.value == value) return &view;
  return nullptr;
}

ValueId Product(SampleGraph& g, ValueId x, int64_t rows, int64_t columns) {
  return g(Op::kMatmul, {x, g.Weight({rows, columns})});
}

TEST(StorageViews, ConcatenatedRowsAreWrittenDensely) {
  SampleGraph g("g");
  const ValueId x = g.Input({3, 16});
  const ValueId a = Product(g, x, 16, 16);
  const ValueId b = Product(g, x, 16, 16);
  const ValueId c = g(Op::kConcat, {a, b}, kRows);
  const Graph graph = g.Build({Product(g, c, 16, 5)});
  const FusionPlan plan = PlanOf(graph);
  EXPECT_EQ(plan.groups.size(), 3U);
  EXPECT_EQ(plan.view_nodes.size(), 1U);
  ASSERT_NE(Find(plan, b), nullptr);
  EXPECT_EQ(Find(plan, b)->owner, c);
  EXPECT_EQ(Find(plan, b)->offset, 48);
  EXPECT_TRUE(Find(plan, b)->layout.IsRowMajor());
  ExpectSameAsReference(graph);
}

TEST(StorageViews, ConcatenatedColumnsLieApart) {
  SampleGraph g("g");
  const ValueId x = g.Input({3, 16});
  const ValueId a = Product(g, x, 16, 16);
  const ValueId b = g(Op::kRelu, {Product(g, x, 16, 32)});
  const ValueId c = g(Op::kConcat, {a, b}, kColumns);
  const Graph graph = g.Build({Product(g, c, 48, 5), g(Op::kSoftmax, {b})});
  const FusionPlan plan = PlanOf(graph);
  EXPECT_EQ(plan.view_nodes.size(), 1U);
  ASSERT_NE(Find(plan, b), nullptr);
  EXPECT_EQ(Find(plan, b)->offset, 16);
  EXPECT_EQ(Find(plan, b)->layout.shape, (Ints{2 * 48 + 32}));
  ExpectSameAsReference(graph);
}

// A value with other readers, concatenated after a reshape, is written directly into the
// concatenation.
TEST(StorageViews, OperandsBehindReshapesAreWrittenInPlace) {
  SampleGraph g("g");
  const ValueId x = g.Input({2, 16});
  const ValueId a = Product(g, x, 16, 32);
  const ValueId b = Product(g, a, 32, 32);
  const auto row = [&](ValueId v) { return g(Op::kReshape, {v}, {{"shape", Ints{1, 2, 32}}}); };
  const ValueId c = g(Op::kConcat, {row(a), row(b)}, kRows);
  const Graph graph = g.Build({g(Op::kSoftmax, {c}), Product(g, b, 32, 5), g(Op::kTanh, {c})});
  const FusionPlan plan = PlanOf(graph);
  EXPECT_EQ(plan.view_nodes.size(), 3U);
  ASSERT_NE(Find(plan, b), nullptr);
  EXPECT_EQ(Find(plan, b)->owner, c);
  EXPECT_EQ(Find(plan, b)->offset, 64);
  ExpectSameAsReference(graph);
}

// In dense blocks, each concatenation is the beginning of the next one. The next one has the
// earlier result as an operand, or all operands of the earlier one.
TEST(StorageViews, BeginningsOfConcatenationsShareItsStorage) {
  for (const bool nested : {false, true}) {
    SampleGraph g("g");
    const ValueId a = Product(g, g.Input({2, 16}), 16, 16);
    const ValueId b = Product(g, a, 16, 16);
    const ValueId first = g(Op::kConcat, {a, b}, kColumns);
    const ValueId c = Product(g, first, 32, 16);
    const ValueId second =
        g(Op::kConcat, nested ? std::vector{first, c} : std::vector{a, b, c}, kColumns);
    const Graph graph = g.Build({Product(g, second, 48, 4)});
    const FusionPlan plan = PlanOf(graph);
    EXPECT_EQ(plan.groups.size(), 4U);
    EXPECT_EQ(plan.view_nodes.size(), 2U);
    ASSERT_NE(Find(plan, first), nullptr);
    EXPECT_EQ(Find(plan, first)->owner, second);
    EXPECT_EQ(Find(plan, c)->offset, 32);
    ExpectSameAsReference(graph);
  }
}

// A kernel concatenates columns if an operand is a graph input or output, is repeated, or has rows
// shorter than a cache line.
TEST(StorageViews, WhatCannotLieElsewhereIsCopied) {
  enum class Case { kInput, kOutput, kRepeated, kShort };
  for (const Case which : {Case::kInput, Case::kOutput, Case::kRepeated, Case::kShort}) {
    SampleGraph g("g");
    const int64_t width = which == Case::kShort ? 8 : 16;
    const ValueId x = g.Input({3, width});
    const ValueId a = Product(g, x, width, width);
    const ValueId b = which == Case::kInput      ? x
                      : which == Case::kRepeated ? a
                                                 : Product(g, x, width, width);
    const ValueId c = g(Op::kConcat, {a, b}, kColumns);
    std::vector<ValueId> outputs = {Product(g, c, 2 * width, 5)};
    if (which == Case::kOutput) outputs.push_back(b);
    const Graph graph = g.Build(outputs);
    EXPECT_TRUE(PlanOf(graph).view_nodes.empty());
    ExpectSameAsReference(graph);
  }
}

// Element-wise operands would need separate kernels to be written in place. One kernel that selects
// between the operands is cheaper.
TEST(StorageViews, OneKernelForCheapOperandsStays) {
  SampleGraph g("g");
  const ValueId x = g.Input({4, 16});
  const ValueId c = g(Op::kConcat, {g(Op::kNeg, {x}), g(Op::kExp, {x})}, kColumns);
  const Graph graph = g.Build({Product(g, c, 32, 5)});
  const FusionPlan plan = PlanOf(graph);
  EXPECT_EQ(plan.groups.size(), 1U);
  EXPECT_TRUE(plan.views.empty());
  ExpectSameAsReference(graph);
}

TEST(StorageViews, SlicesAndReshapesOfSeveralReadersAreReadInPlace) {
  SampleGraph g("g");
  const ValueId x = Product(g, g.Input({4, 16}), 16, 48);
  const Attributes slice = {{"starts", Ints{1, 16}}, {"ends", Ints{4, 32}}, {"steps", Ints{1, 1}}};
  const ValueId s = g(Op::kSlice, {x}, slice);
  const ValueId r = g(Op::kReshape, {s}, {{"shape", Ints{1, 3, 16}}});
  const Graph graph = g.Build({Product(g, r, 16, 5), g(Op::kSoftmax, {r})});
  const FusionPlan plan = PlanOf(graph);
  EXPECT_EQ(plan.groups.size(), 3U);
  EXPECT_EQ(plan.view_nodes.size(), 2U);
  ASSERT_NE(Find(plan, r), nullptr);
  EXPECT_EQ(Find(plan, r)->owner, x);
  EXPECT_EQ(Find(plan, r)->offset, 48 + 16);
  ExpectSameAsReference(graph);
}

// The slices of a sequence become views. The kernels of the steps then do not depend on the
// offsets, so all steps have the same kernel.
TEST(StorageViews, PiecesOfOneValueForSeveralKernelsAreViews) {
  SampleGraph g("g");
  const ValueId x = Product(g, g.Input({3, 2, 16}), 16, 24);
  const ValueId w = g.Weight({24, 24});
  ValueId state = g.Input({2, 24});
  for (int64_t step = 0; step < 3; ++step) {
    const ValueId row = g(
        Op::kSlice, {x},
        {{"starts", Ints{step, 0, 0}}, {"ends", Ints{step + 1, 2, 24}}, {"steps", Ints{1, 1, 1}}});
    const ValueId flat = g(Op::kReshape, {row}, {{"shape", Ints{2, 24}}});
    state = g(Op::kTanh, {g(Op::kAdd, {flat, g(Op::kMatmul, {state, w})})});
  }
  const Graph graph = g.Build({state});
  const FusionPlan plan = PlanOf(graph);
  EXPECT_EQ(plan.groups.size(), 4U);
  std::set<std::string> texts;
  for (const FusionGroup& group : plan.groups) {
    Compute compute = Lower(graph, group)->front().compute;
    compute.name.clear();
    texts.insert(Print(compute));
  }
  EXPECT_EQ(texts.size(), 2U) << "the product with the inputs, and a step";
  ExpectSameAsReference(graph);
}

// One kernel reads all pieces. As views, the pieces would be separate arguments.
TEST(StorageViews, PiecesForOneKernelStayPartOfIt) {
  SampleGraph g("g");
  const ValueId x = Product(g, g.Input({2, 16}), 16, 32);
  const auto piece = [&](int64_t row) {
    return g(Op::kSlice, {x},
             {{"starts", Ints{row, 0}}, {"ends", Ints{row + 1, 32}}, {"steps", Ints{1, 1}}});
  };
  const Graph graph = g.Build({g(Op::kMul, {piece(0), g(Op::kTanh, {piece(1)})})});
  EXPECT_TRUE(PlanOf(graph).views.empty());
  ExpectSameAsReference(graph);
}

// Reading columns as rows would slow every reader. Therefore one kernel transposes the columns.
TEST(StorageViews, TransposesOfSeveralReadersAreKernels) {
  SampleGraph g("g");
  const ValueId t = g(Op::kTranspose, {g.Input({16, 32})}, {{"perm", Ints{1, 0}}});
  const Graph graph = g.Build({Product(g, t, 16, 5), g(Op::kSoftmax, {t})});
  EXPECT_TRUE(PlanOf(graph).views.empty());
  ExpectSameAsReference(graph);
}

TEST(StorageViews, ChannelsLastOperandsOfAConcatenation) {
  SampleGraph g("g");
  const auto channels_last = [&](ValueId value, Ints shape) {
    Layout layout{.shape = {shape[0], shape[2], shape[3], shape[1]}, .map = {}};
    for (const size_t d : {0, 2, 3, 1}) layout.map.push_back(IndexExpr::Var(DimensionVar(d)));
    g.SetLayout(value, layout);
    return value;
  };
  const ValueId x = g.Input({2, 3, 4, 5});
  const ValueId a = channels_last(g(Op::kConv, {x, g.Weight({16, 3, 1, 1})}), {2, 16, 4, 5});
  const ValueId b =
      channels_last(g(Op::kRelu, {g(Op::kConv, {x, g.Weight({32, 3, 1, 1})})}), {2, 32, 4, 5});
  const ValueId c = channels_last(g(Op::kConcat, {a, b}, kColumns), {2, 48, 4, 5});
  const Graph graph = g.Build({g(Op::kConv, {c, g.Weight({4, 48, 3, 3})})});
  const FusionPlan plan = PlanOf(graph);
  EXPECT_EQ(plan.view_nodes.size(), 1U);
  EXPECT_EQ(plan.groups.size(), 3U);
  ExpectSameAsReference(graph);
}

}  // namespace
}  // namespace tunec
