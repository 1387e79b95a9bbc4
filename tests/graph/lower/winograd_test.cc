// Tests of results of Winograd lowerings in the interpreter, and of which convolutions have such
// lowerings. tests/golden/show/winograd.txt has the texts of two of these lowerings.
#include <algorithm>

#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

struct Conv {
  Ints x = {1, 8, 6, 6};
  Ints w = {8, 8, 3, 3};
  Ints pads = {1, 1, 1, 1};
  Ints strides = {1, 1};
  Ints dilations = {1, 1};
  int64_t group = 1;
  DataType type = DataType::kF32;
};

ValueId Add(SampleGraph& g, const Conv& c, ValueId x, ValueId w) {
  return g(
      Op::kConv, {x, w},
      {{"pads", c.pads}, {"strides", c.strides}, {"dilations", c.dilations}, {"group", c.group}});
}

bool IsOffered(const Graph& graph) {
  const auto lowerings = Lower(graph, Fuse(graph)->at(0));
  EXPECT_TRUE(lowerings) << lowerings.error().Format();
  const auto offers = [&](std::string_view name) {
    return std::ranges::find(*lowerings, name, &Lowering::name) != lowerings->end();
  };
  EXPECT_EQ(offers("winograd"), offers("winograd,tile=4"));
  return offers("winograd");
}

bool IsOffered(const Conv& c) {
  SampleGraph g("conv");
  const ValueId y = Add(g, c, g.Input(c.x, c.type), g.Weight(c.w, c.type));
  return IsOffered(g.Build({y}));
}

void Check(const Conv& c) {
  SCOPED_TRACE(testing::PrintToString(c.x) + " " + testing::PrintToString(c.pads));
  EXPECT_TRUE(IsOffered(c));
  SampleGraph g("conv");
  const ValueId y = Add(g, c, g.Input(c.x), g.Weight(c.w));
  ExpectSameAsReference(g.Build({y}));
}

TEST(LowerWinograd, WholeAndPartialTiles) {
  Check({.x = {1, 8, 6, 8}});
  Check({.x = {1, 8, 7, 6}});
  Check({.x = {1, 9, 5, 7}, .w = {11, 9, 3, 3}});
  Check({.x = {1, 8, 8, 12}});
  Check({.x = {1, 8, 9, 8}});
  Check({.x = {1, 8, 11, 10}});
}
TEST(LowerWinograd, ImagesSmallerThanATile) {
  Check({.x = {1, 8, 3, 4}});
  Check({.x = {1, 8, 2, 2}});
  Check({.x = {2, 9, 2, 3}, .w = {8, 9, 3, 3}});
}
TEST(LowerWinograd, Borders) {
  Check({.pads = {0, 0, 0, 0}});
  Check({.pads = {0, 1, 2, 0}});
  Check({.x = {1, 8, 5, 4}, .pads = {2, 2, 2, 2}});
  // Some outputs do not depend on any input element.
  Check({.x = {1, 8, 3, 3}, .pads = {4, 3, 3, 4}});
}
TEST(LowerWinograd, Batches) {
  Check({.x = {3, 8, 6, 6}});
  Check({.x = {2, 8, 7, 5}});
}

TEST(LowerWinograd, WithWhatFollows) {
  SampleGraph g("block");
  const Conv c{.x = {2, 8, 7, 6}};
  const ValueId x = g.Input(c.x);
  const ValueId conv =
      g(Op::kConv, {x, g.Weight(c.w), g.Weight({8})}, {{"pads", c.pads}, {"group", c.group}});
  const ValueId y = g(Op::kRelu, {g(Op::kAdd, {conv, x})});
  ExpectSameAsReference(g.Build({y}));
}
TEST(LowerWinograd, WithItsSumsAsAnOutputToo) {
  SampleGraph g("both");
  const Conv c{.x = {1, 8, 5, 5}};
  const ValueId conv = Add(g, c, g.Input(c.x), g.Weight(c.w));
  const ValueId y = g(Op::kSigmoid, {conv});
  ExpectSameAsReference(g.Build({conv, y}));
}
TEST(LowerWinograd, ChannelsLast) {
  SampleGraph g("channels_last");
  const Conv c{.x = {2, 8, 6, 5}};
  const auto last = [](const Ints& shape) {
    const auto dimension = [](size_t d) { return IndexExpr::Var(DimensionVar(d)); };
    return Layout{.shape = {shape[0], shape[2], shape[3], shape[1]},
                  .map = {dimension(0), dimension(2), dimension(3), dimension(1)}};
  };
  const ValueId x = g.Input(c.x);
  const ValueId y = g(Op::kRelu, {Add(g, c, x, g.Weight(c.w))});
  const ValueId z = Add(g, c, y, g.Weight(c.w));
  g.SetLayout(y, last(c.x));
  ExpectSameAsReference(g.Build({z}));
}

TEST(LowerWinograd, IsForThreeByThreeOfStrideOne) {
  EXPECT_TRUE(IsOffered(Conv{}));
  EXPECT_FALSE(IsOffered({.strides = {2, 2}}));
  EXPECT_FALSE(IsOffered({.strides = {1, 2}}));
  EXPECT_FALSE(IsOffered({.dilations = {2, 2}}));
  EXPECT_FALSE(IsOffered({.w = {8, 8, 1, 1}, .pads = {0, 0, 0, 0}}));
  EXPECT_FALSE(IsOffered({.w = {8, 8, 5, 5}}));
  EXPECT_FALSE(IsOffered({.w = {8, 8, 3, 1}}));
}
TEST(LowerWinograd, IsForOneGroupOfManyChannels) {
  EXPECT_FALSE(IsOffered({.x = {1, 16, 6, 6}, .w = {16, 8, 3, 3}, .group = 2}));
  EXPECT_FALSE(IsOffered({.x = {1, 3, 6, 6}, .w = {16, 3, 3, 3}}));
  EXPECT_FALSE(IsOffered({.w = {2, 8, 3, 3}}));
}
TEST(LowerWinograd, IsForFloat32) {
  EXPECT_FALSE(IsOffered({.type = DataType::kF64}));
  EXPECT_FALSE(IsOffered({.type = DataType::kF16}));
  EXPECT_FALSE(IsOffered({.type = DataType::kI32}));
}
TEST(LowerWinograd, IsForImagesOfMoreThanOneRow) {
  EXPECT_FALSE(IsOffered({.x = {1, 8, 1, 9}}));
  EXPECT_FALSE(IsOffered({.x = {1, 8, 9, 1}}));
}
TEST(LowerWinograd, IsForConstantFilters) {
  SampleGraph g("variable");
  const Conv c;
  const ValueId y = Add(g, c, g.Input(c.x), g.Input(c.w));
  EXPECT_FALSE(IsOffered(g.Build({y})));
}

}  // namespace
}  // namespace tunec
