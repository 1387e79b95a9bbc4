#include <limits>

#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

void CheckMatmul(Ints a, Ints b, int64_t transpose_a = 0, int64_t transpose_b = 0,
                 DataType type = DataType::kF32, double tolerance = 2e-5) {
  SampleGraph g("matmul");
  const ValueId product = g(Op::kMatmul, {g.Input(std::move(a), type), g.Input(std::move(b), type)},
                            {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
  ExpectSameAsReference(g.Build({product}), tolerance);
}

TEST(LowerMatmul, Plain) { CheckMatmul({7, 5}, {5, 3}); }
TEST(LowerMatmul, Transposes) {
  CheckMatmul({5, 7}, {5, 3}, 1, 0);
  CheckMatmul({7, 5}, {3, 5}, 0, 1);
  CheckMatmul({2, 5, 7}, {2, 3, 5}, 1, 1);
}
TEST(LowerMatmul, BatchesBroadcast) {
  CheckMatmul({2, 3, 4, 5}, {5, 6});
  CheckMatmul({2, 1, 4, 5}, {3, 5, 6});
  CheckMatmul({4, 5}, {2, 5, 6});
}
TEST(LowerMatmul, Vectors) {
  CheckMatmul({5}, {5});
  CheckMatmul({5}, {5, 3});
  CheckMatmul({2, 4, 5}, {5});
  CheckMatmul({5}, {2, 5, 3});
}
TEST(LowerMatmul, Types) {
  CheckMatmul({4, 5}, {5, 3}, 0, 0, DataType::kF64, 1e-12);
  CheckMatmul({4, 5}, {5, 3}, 0, 0, DataType::kF16, 2e-3);
  CheckMatmul({4, 5}, {5, 3}, 0, 0, DataType::kBF16, 1e-2);
  CheckMatmul({4, 5}, {5, 3}, 0, 0, DataType::kI8, 0);
  CheckMatmul({4, 5}, {5, 3}, 0, 0, DataType::kI64, 0);
}

struct ConvCase {
  Ints x, w;
  Ints strides, pads, dilations;
  int64_t group = 1;
  bool bias = false;
};

Attributes AttributesOf(const ConvCase& c) {
  Attributes attributes = {{"group", c.group}};
  if (!c.strides.empty()) attributes["strides"] = c.strides;
  if (!c.pads.empty()) attributes["pads"] = c.pads;
  if (!c.dilations.empty()) attributes["dilations"] = c.dilations;
  return attributes;
}

void CheckConv(const ConvCase& c, Op op = Op::kConv, Attributes more = {}) {
  SampleGraph g("conv");
  std::vector<ValueId> operands = {g.Input(c.x), g.Weight(c.w)};
  const int64_t channels = op == Op::kConv ? c.w[0] : c.w[1] * c.group;
  if (c.bias) operands.push_back(g.Weight({channels}));
  Attributes attributes = AttributesOf(c);
  attributes.merge(more);
  const ValueId y = g(op, operands, attributes);
  ExpectSameAsReference(g.Build({y}));
}

TEST(LowerConv, PaddedStridedDilated) {
  CheckConv({{1, 3, 8, 9}, {4, 3, 3, 3}, {}, {1, 1, 1, 1}, {}});
  CheckConv({{2, 3, 8, 9}, {4, 3, 3, 2}, {2, 1}, {1, 0, 2, 1}, {}, 1, true});
  CheckConv({{1, 2, 9, 9}, {3, 2, 3, 3}, {1, 2}, {2, 2, 2, 2}, {2, 2}, 1, true});
  CheckConv({{1, 3, 11, 11}, {2, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}, {}});
}
TEST(LowerConv, GroupsAndDepthwise) {
  CheckConv({{1, 6, 5, 5}, {4, 3, 3, 3}, {}, {1, 1, 1, 1}, {}, 2, true});
  CheckConv({{2, 4, 5, 6}, {4, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 4, true});
  CheckConv({{1, 3, 5, 5}, {6, 1, 3, 3}, {}, {1, 1, 1, 1}, {}, 3});
}
TEST(LowerConv, OneAndThreeAxes) {
  CheckConv({{2, 3, 9}, {4, 3, 3}, {2}, {1, 1}, {}, 1, true});
  CheckConv({{1, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, {1, 2, 1}, {1, 1, 0, 0, 1, 1}, {}});
}
TEST(LowerConv, PointwiseIsFlat) {
  CheckConv({{2, 5, 4, 3}, {6, 5, 1, 1}, {}, {}, {}, 1, true});
  SampleGraph g("pointwise");
  const ValueId y = g(Op::kConv, {g.Input({2, 5, 4, 3}), g.Weight({6, 5, 1, 1})});
  const Graph graph = g.Build({y});
  const auto groups = Fuse(graph, FusionMode::kFused);
  const auto lowerings = Lower(graph, groups->at(0));
  ASSERT_TRUE(lowerings);
  ASSERT_EQ(lowerings->size(), 2U);
  EXPECT_EQ(lowerings->at(0).name, "flat");
  EXPECT_EQ(lowerings->at(1).name, "direct");
  const Statement& acc = lowerings->at(0).compute.statements[StatementId(0)];
  EXPECT_EQ(acc.IteratorNames(), (std::vector<std::string>{"n", "m", "p", "ic"}));
  // Schedules rely on the accumulator having one dimension per output iterator.
  for (const IndexExpr& index : acc.writes[0].index) EXPECT_TRUE(index.AsVar());
}
TEST(LowerConv, UnitIteratorsAreDropped) {
  SampleGraph g("one_image");
  const ValueId y = g(Op::kConv, {g.Input({1, 5, 4, 3}), g.Weight({6, 5, 1, 1})});
  const Graph graph = g.Build({y});
  const auto lowerings = Lower(graph, Fuse(graph, FusionMode::kFused)->at(0));
  ASSERT_TRUE(lowerings);
  const Statement& acc = lowerings->at(0).compute.statements[StatementId(0)];
  EXPECT_EQ(acc.IteratorNames(), (std::vector<std::string>{"m", "p", "ic"}));
}
TEST(LowerConv, WindowsWithoutInput) {
  // The windows of the first and last outputs contain only padding.
  CheckConv({{1, 2, 3, 3}, {2, 2, 2, 2}, {}, {3, 3, 3, 3}, {}, 1, true});
}
TEST(LowerConvTranspose, TilingAndGeneral) {
  CheckConv({{1, 3, 4, 5}, {3, 2, 2, 2}, {2, 2}, {}, {}, 1, true}, Op::kConvTranspose);
  CheckConv({{1, 3, 4, 5}, {3, 2, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 1, true}, Op::kConvTranspose,
            {{"output_padding", Ints{1, 1}}});
  CheckConv({{1, 4, 4, 4}, {4, 2, 3, 3}, {}, {1, 1, 1, 1}, {2, 2}, 2}, Op::kConvTranspose);
  CheckConv({{1, 2, 4}, {2, 3, 2}, {3}, {}, {}}, Op::kConvTranspose);  // with gaps
  CheckConv({{1, 4, 3, 3}, {4, 1, 2, 2}, {2, 2}, {}, {}, 4}, Op::kConvTranspose);
}

// A non-finite weight affects only outputs to which it spreads an input element.
TEST(LowerConvTranspose, NoProductBetweenStrides) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const int64_t kernel : {1, 2, 3, 4}) {
    for (const int64_t padded : {0, 2}) {
      Array weight(DataType::kF32, {2, 3, kernel});
      for (int64_t i = 0; i < weight.size(); ++i) weight.SetDouble(i, i % 3 == 0 ? inf : 0.5);
      weight.SetDouble(weight.size() - 1, nan);
      SampleGraph g("holes");
      const ValueId y = g(Op::kConvTranspose, {g.Input({1, 2, 4}), g.Constant(weight)},
                          {{"strides", Ints{3}}, {"output_padding", Ints{padded}}});
      ExpectSameAsReference(g.Build({y}));
    }
  }
}

// The first lowering of convolution, bias, residual and relu has two statements.
TEST(LowerConv, EpilogueIsOneStatement) {
  SampleGraph g("block");
  const ValueId x = g.Input({1, 4, 6, 6});
  const ValueId conv =
      g(Op::kConv, {x, g.Weight({4, 4, 3, 3}), g.Weight({4})}, {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId y = g(Op::kRelu, {g(Op::kAdd, {conv, x})});
  const Graph graph = g.Build({y});
  const auto groups = Fuse(graph, FusionMode::kFused);
  ASSERT_EQ(groups->size(), 1U);
  const auto lowerings = Lower(graph, groups->at(0));
  ASSERT_TRUE(lowerings);
  EXPECT_EQ(lowerings->at(0).compute.statements.size(), 2U) << Print(lowerings->at(0).compute);
  ExpectSameAsReference(graph);
}

}  // namespace
}  // namespace tunec
