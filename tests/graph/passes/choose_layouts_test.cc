// Tests of ChooseLayouts, MakeLayout and LayoutCost. Results must not depend on the storage order
// of images.
#include "graph/passes/choose_layouts.h"

#include <gtest/gtest.h>

#include "graph/passes/layout_cost.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

constexpr int64_t kLanes = 16;

Graph Chosen(const Graph& graph, PassOptions options = {}) {
  auto result = ChooseLayouts(graph, options);
  EXPECT_TRUE(result) << result.error().Format();
  return result ? std::move(*result) : graph;
}

std::vector<const Value*> Reordered(const Graph& graph) {
  std::vector<const Value*> values;
  for (const Value& value : graph.values()) {
    if (!value.layout.IsRowMajor()) values.push_back(&value);
  }
  return values;
}

ValueId Conv(SampleGraph& g, ValueId x, int64_t in, int64_t out, int64_t size) {
  const Ints pads(4, size / 2);
  return g(Op::kRelu, {g(Op::kConv, {x, g.Weight({out, in, size, size})}, {{"pads", pads}})});
}

TEST(ChooseLayouts, AroundConvolutionsOnly) {
  SampleGraph g("image");
  ValueId x = g.Input({1, 3, 8, 8});
  x = Conv(g, x, 3, 32, 3);
  const ValueId pooled = g(Op::kMaxPool, {x}, {{"kernel", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const ValueId both = g(Op::kConcat, {pooled, pooled}, {{"axis", int64_t{1}}});
  const ValueId flat = g(Op::kReshape, {both}, {{"shape", Ints{1, 64 * 16}}});
  const ValueId y = g(Op::kMatmul, {flat, g.Weight({64 * 16, 5})});
  const Graph after = Chosen(g.Build({y}));
  const auto reordered = Reordered(after);
  EXPECT_EQ(reordered.size(), 4);  // conv, relu, pool, concat
  for (const Value* value : reordered) {
    EXPECT_EQ(value->layout, MakeLayout(ImageOrder::kChannelsLast, value->type.Shape(), kLanes));
  }
  ExpectSameAsReference(after);
}

// With channels last, three channels would leave thirteen of sixteen lanes idle. The rows of a
// large image fill all lanes.
TEST(ChooseLayouts, FewChannelsStayFirst) {
  SampleGraph g("thin");
  ValueId x = g.Input({1, 3, 32, 64});
  for (int layer = 0; layer < 3; ++layer) x = Conv(g, x, 3, 3, 3);
  EXPECT_TRUE(Reordered(Chosen(g.Build({g(Op::kSigmoid, {x})}))).empty());
}

TEST(ChooseLayouts, ManyChannelsAreLastInOneAndThreeDimensions) {
  for (const Ints& spatial : {Ints{9}, Ints{4, 5, 6}}) {
    SampleGraph g("image");
    Ints shape = {2, 32};
    Ints weight = {32, 32};
    for (const int64_t size : spatial) {
      shape.push_back(size);
      weight.push_back(1);
    }
    ValueId x = g.Input(shape);
    for (int layer = 0; layer < 2; ++layer) x = g(Op::kConv, {x, g.Weight(weight)});
    const Graph after = Chosen(g.Build({g(Op::kRelu, {x})}));
    EXPECT_EQ(Reordered(after).size(), 2);
    ExpectSameAsReference(after);
  }
}

// A depthwise convolution on tokens: the tokens are transposed to channels first, and reshaped to
// an image. With channels last, neither moves an element.
TEST(ChooseLayouts, ReshapesThatKeepChannelsShareTheOrder) {
  SampleGraph g("tokens");
  const ValueId x = g.Input({1, 49, 64});
  const ValueId first = g(Op::kTranspose, {x}, {{"perm", Ints{0, 2, 1}}});
  const ValueId image = g(Op::kReshape, {first}, {{"shape", Ints{1, 64, 7, 7}}});
  const ValueId conv = g(Op::kConv, {image, g.Weight({64, 1, 3, 3})},
                         {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{64}}});
  const ValueId flat = g(Op::kReshape, {g(Op::kRelu, {conv})}, {{"shape", Ints{1, 64, 49}}});
  const ValueId y = g(Op::kTranspose, {flat}, {{"perm", Ints{0, 2, 1}}});
  const Graph after = Chosen(g.Build({y}));
  const auto reordered = Reordered(after);
  EXPECT_EQ(reordered.size(), 5);  // transpose, reshape, conv, relu, reshape
  for (const Value* value : reordered) {
    EXPECT_EQ(value->layout, MakeLayout(ImageOrder::kChannelsLast, value->type.Shape(), kLanes));
  }
  ExpectSameAsReference(after);
}

TEST(ChooseLayouts, ValuesFarFromConvolutionsStay) {
  SampleGraph g("heads");
  ValueId x = g.Input({1, 12, 16, 64});
  x = g(Op::kExp, {g(Op::kNeg, {x})});
  const ValueId y = g(Op::kMatmul, {x, g.Weight({1, 12, 64, 16})});
  EXPECT_TRUE(Reordered(Chosen(g.Build({y}))).empty());
}

TEST(ChooseLayouts, AnOrderCanBeAskedFor) {
  for (const ImageOrder order : {ImageOrder::kChannelsLast, ImageOrder::kBlocked}) {
    SampleGraph g("asked");
    ValueId x = g.Input({1, 3, 6, 7});
    x = Conv(g, Conv(g, x, 3, 5, 3), 5, 20, 1);
    const Graph after =
        Chosen(g.Build({g(Op::kNeg, {x})}), {.machine = {.vector_lanes = 8}, .image_order = order});
    const auto reordered = Reordered(after);
    ASSERT_EQ(reordered.size(), 4);
    for (const Value* value : reordered) {
      EXPECT_EQ(value->layout, MakeLayout(order, value->type.Shape(), 8));
    }
    ExpectSameAsReference(after);
  }
}

// 19 channels in blocks of 8 are three blocks. The last has five unused positions.
TEST(ImageOrder, BlocksPadTheChannels) {
  const Layout layout = MakeLayout(ImageOrder::kBlocked, {2, 19, 3, 4}, 8);
  EXPECT_EQ(layout.shape, (Ints{2, 3, 3, 4, 8}));
  const Ints logical = {1, 17, 2, 3};
  Ints storage_index;
  for (const IndexExpr& index : layout.map) storage_index.push_back(Evaluate(index, logical));
  EXPECT_EQ(storage_index, (Ints{1, 2, 2, 3, 1}));
}

TEST(ImageOrder, OpenDimensionsCostNothing) {
  GraphBuilder builder("open");
  const ValueId x = *builder.AddInput("x", {DataType::kF32, {Dim::Named("n"), 4, 8, 8}});
  const ValueId y = *builder.Add(Op::kRelu, {x});
  builder.AddOutput(y);
  const Graph graph = std::move(builder).Build();
  const NodeOrders orders{{ImageOrder::kChannelsFirst}, {ImageOrder::kChannelsFirst}};
  EXPECT_EQ(LayoutCost(graph, graph.producer(y), orders, FusionMachine()), 0);
}

}  // namespace
}  // namespace tunec
