// Tests of the ONNX handlers of products, convolutions, pools, reductions and normalisations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using List = std::vector<int64_t>;

TEST(OnnxMatmul, NumpysRules) {
  const Array a = Counting({2, 3});
  const Array b = Counting({3, 2});
  EXPECT_THAT(Values(Eval({.op = "MatMul", .operands = {a, b}})), ElementsAre(10, 13, 28, 40));
  const Array row = Eval({.op = "MatMul", .operands = {Floats({3}, {1, 1, 1}), b}});
  EXPECT_THAT(row.shape(), ElementsAre(2));
  EXPECT_THAT(Values(row), ElementsAre(6, 9));
  const Array column = Eval({.op = "MatMul", .operands = {a, Floats({3}, {1, 1, 1})}});
  EXPECT_THAT(column.shape(), ElementsAre(2));
  EXPECT_THAT(Values(column), ElementsAre(3, 12));
  EXPECT_THAT(
      Eval({.op = "MatMul", .operands = {Floats({3}, {1, 1, 1}), Floats({3}, {1, 2, 3})}}).shape(),
      ElementsAre());
  EXPECT_THAT(
      Eval({.op = "MatMul", .operands = {Counting({4, 1, 2, 3}), Counting({5, 3, 2})}}).shape(),
      ElementsAre(4, 5, 2, 2));
}

TEST(OnnxMatmul, GemmScalesTransposesAndAdds) {
  const Array a = Counting({3, 2});
  const Array b = Counting({4, 3});
  const Array y = Eval({.op = "Gemm",
                        .attributes = {{"alpha", 0.5}, {"beta", 2.0}, {"transA", 1}, {"transB", 1}},
                        .operands = {a, b, Floats({4}, {1, 2, 3, 4})}});
  EXPECT_THAT(y.shape(), ElementsAre(2, 4));
  EXPECT_THAT(Values(y), ElementsAre(7, 18, 29, 40, 8.5, 24, 39.5, 55));
  EXPECT_THAT(Values(Eval({.op = "Gemm", .operands = {Counting({2, 3}), Counting({3, 2})}})),
              ElementsAre(10, 13, 28, 40));
}

TEST(OnnxMatmul, IntegerProductsSubtractZeroPoints) {
  const Array a = Typed(DataType::kU8, {1, 2}, {11, 12});
  const Array b = Typed(DataType::kU8, {2, 1}, {1, 4});
  const Array y = Eval({.op = "MatMulInteger", .operands = {a, b, Typed(DataType::kU8, {}, {12})}});
  EXPECT_EQ(y.type(), DataType::kI32);
  EXPECT_THAT(Values(y), ElementsAre(-1));
}

TEST(OnnxMatmul, IntegerVectorsStayVectors) {
  const Array row = Typed(DataType::kU8, {3}, {1, 2, 3});
  const Array b = Typed(DataType::kU8, {3, 2}, {1, 2, 3, 4, 5, 6});
  const Array one = Typed(DataType::kU8, {1}, {1});
  const Array y = Eval({.op = "MatMulInteger", .operands = {row, b, one}});
  EXPECT_EQ(y.shape(), std::vector<int64_t>{2});
  EXPECT_THAT(Values(y), ElementsAre(13, 16));
  const Array dot = Eval({.op = "MatMulInteger", .operands = {row, row}});
  EXPECT_EQ(dot.shape(), std::vector<int64_t>{});
  EXPECT_THAT(Values(dot), ElementsAre(14));
}

TEST(OnnxMatmul, Einsum) {
  const auto einsum = [](const char* equation, std::vector<Array> operands) {
    return Eval({.op = "Einsum", .attributes = {{"equation", equation}}, .operands = operands});
  };
  const Array a = Counting({2, 3});
  EXPECT_THAT(Values(einsum("ij->ji", {a})), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(Values(einsum("ij->i", {a})), ElementsAre(3, 12));
  EXPECT_THAT(Values(einsum("i,i", {Floats({2}, {1, 2}), Floats({2}, {3, 4})})), ElementsAre(11));
  EXPECT_THAT(Values(einsum("ij,jk->ki", {a, Counting({3, 2})})), ElementsAre(10, 28, 13, 40));
  EXPECT_THAT(
      einsum("bhid, bhjd -> bhij", {Counting({2, 3, 4, 5}), Counting({2, 3, 6, 5})}).shape(),
      ElementsAre(2, 3, 4, 6));
  EXPECT_THAT(einsum("...ij,...jk->...ik", {Counting({7, 2, 3}), Counting({7, 3, 4})}).shape(),
              ElementsAre(7, 2, 4));
  EXPECT_THAT(
      Values(einsum("i,j,i->j", {Floats({2}, {1, 2}), Floats({2}, {3, 4}), Floats({2}, {5, 6})})),
      ElementsAre(51, 68));
  EXPECT_THAT(
      ErrorOf(
          {.op = "Einsum", .attributes = {{"equation", "ii->i"}}, .operands = {Counting({2, 2})}}),
      HasSubstr("label twice"));
}

TEST(OnnxConv, PadsStridesGroupsAndBias) {
  const Array x = Counting({1, 1, 3, 3});
  const Array w = Floats({1, 1, 2, 2}, {1, 1, 1, 1});
  EXPECT_THAT(Values(Eval({.op = "Conv", .operands = {x, w}})), ElementsAre(8, 12, 20, 24));
  EXPECT_THAT(Values(Eval({.op = "Conv",
                           .attributes = {{"strides", List{2, 2}}, {"pads", List{0, 0, 1, 1}}},
                           .operands = {x, w, Floats({1}, {100})}})),
              ElementsAre(108, 107, 113, 108));
  EXPECT_THAT(
      Values(Eval({.op = "Conv", .attributes = {{"auto_pad", "SAME_UPPER"}}, .operands = {x, w}})),
      ElementsAre(8, 12, 7, 20, 24, 13, 13, 15, 8));
  EXPECT_THAT(
      Values(Eval({.op = "Conv", .attributes = {{"auto_pad", "SAME_LOWER"}}, .operands = {x, w}})),
      ElementsAre(0, 1, 3, 3, 8, 12, 9, 20, 24));
  EXPECT_THAT(Values(Eval({.op = "Conv",
                           .attributes = {{"dilations", List{2, 2}}, {"auto_pad", "VALID"}},
                           .operands = {x, w}})),
              ElementsAre(16));
  EXPECT_THAT(Values(Eval({.op = "Conv",
                           .attributes = {{"group", 2}},
                           .operands = {Counting({1, 2, 2}), Floats({2, 1, 1}, {1, 10})}})),
              ElementsAre(0, 1, 20, 30));
  EXPECT_THAT(
      ErrorOf({.op = "Conv", .attributes = {{"kernel_shape", List{3, 3}}}, .operands = {x, w}}),
      HasSubstr("kernel_shape is [3,3]"));
  EXPECT_THAT(ErrorOf({.op = "Conv", .attributes = {{"strides", List{0, 1}}}, .operands = {x, w}}),
              HasSubstr("strides is [0,1]"));
}

TEST(OnnxConv, Transposed) {
  const Array x = Floats({1, 1, 2}, {1, 2});
  const Array w = Floats({1, 1, 3}, {1, 10, 100});
  const auto of = [&](std::vector<Attr> attributes) {
    return Values(Eval({.op = "ConvTranspose", .attributes = attributes, .operands = {x, w}}));
  };
  EXPECT_THAT(of({}), ElementsAre(1, 12, 120, 200));
  EXPECT_THAT(of({{"strides", List{2}}}), ElementsAre(1, 10, 102, 20, 200));
  EXPECT_THAT(of({{"strides", List{2}}, {"pads", List{1, 1}}}), ElementsAre(10, 102, 20));
  EXPECT_THAT(of({{"strides", List{2}}, {"output_padding", List{1}}}),
              ElementsAre(1, 10, 102, 20, 200, 0));
  EXPECT_THAT(of({{"strides", List{2}}, {"output_shape", List{4}}}), ElementsAre(10, 102, 20, 200));
  EXPECT_THAT(of({{"strides", List{2}}, {"auto_pad", "SAME_UPPER"}}), ElementsAre(1, 10, 102, 20));
  EXPECT_THAT(of({{"strides", List{2}}, {"output_shape", List{6}}}),
              ElementsAre(1, 10, 102, 20, 200, 0));
}

TEST(OnnxPool, WindowsAndCeilMode) {
  const Array x = Counting({1, 1, 5});
  const auto of = [&](const std::string& op, std::vector<Attr> attributes) {
    attributes.emplace_back("kernel_shape", List{2});
    return Values(Eval({.op = op, .attributes = attributes, .operands = {x}, .opset = 19}));
  };
  EXPECT_THAT(of("MaxPool", {{"strides", List{2}}}), ElementsAre(1, 3));
  EXPECT_THAT(of("MaxPool", {{"strides", List{2}}, {"ceil_mode", 1}}), ElementsAre(1, 3, 4));
  EXPECT_THAT(of("MaxPool", {{"strides", List{2}}, {"auto_pad", "SAME_LOWER"}}),
              ElementsAre(0, 2, 4));
  EXPECT_THAT(of("AveragePool", {{"strides", List{2}}, {"ceil_mode", 1}}),
              ElementsAre(0.5, 2.5, 4));
  EXPECT_THAT(of("AveragePool", {{"strides", List{2}}, {"pads", List{1, 0}}}),
              ElementsAre(0, 1.5, 3.5));
  EXPECT_THAT(
      of("AveragePool", {{"strides", List{2}}, {"pads", List{1, 0}}, {"count_include_pad", 1}}),
      ElementsAre(0, 1.5, 3.5));
  for (const int any : {4, -1}) {
    EXPECT_THAT(
        of("AveragePool", {{"strides", List{4}}, {"pads", List{0, 1}}, {"count_include_pad", any}}),
        ElementsAre(0.5, 2))
        << any;
  }
  // AveragePool never counts the pads of ceil_mode, so the last result is 4 / 1, not 4 / 2.
  EXPECT_THAT(of("AveragePool", {{"strides", List{4}}, {"count_include_pad", 1}, {"ceil_mode", 1}}),
              ElementsAre(0.5, 4));
  EXPECT_THAT(of("LpPool", {{"p", 1}, {"strides", List{2}}}), ElementsAre(1, 5));
  EXPECT_NEAR(of("LpPool", {{"p", 3}, {"strides", List{2}}})[1], std::cbrt(8 + 27), 1e-5);
  EXPECT_THAT(ErrorOf({.op = "MaxPool",
                       .attributes = {{"kernel_shape", List{2}}},
                       .operands = {x},
                       .count = 2}),
              HasSubstr("indices"));
}

TEST(OnnxPool, Global) {
  const Array x = Counting({1, 2, 2, 2});
  const Array y = Eval({.op = "GlobalAveragePool", .operands = {x}});
  EXPECT_THAT(y.shape(), ElementsAre(1, 2, 1, 1));
  EXPECT_THAT(Values(y), ElementsAre(1.5, 5.5));
  EXPECT_THAT(Values(Eval({.op = "GlobalMaxPool", .operands = {x}})), ElementsAre(3, 7));
}

TEST(OnnxReduce, AxesAreAnAttributeThenAnInput) {
  const Array x = Counting({2, 3}, 1);
  EXPECT_THAT(
      Values(Eval(
          {.op = "ReduceSum", .attributes = {{"axes", List{1}}}, .operands = {x}, .opset = 11})),
      ElementsAre(6, 15));
  EXPECT_THAT(Values(Eval({.op = "ReduceSum", .operands = {x, Ints({1}, {-1})}, .constants = {1}})),
              ElementsAre(6, 15));
  EXPECT_THAT(Values(Eval({.op = "ReduceMean",
                           .attributes = {{"axes", List{0}}, {"keepdims", 0}},
                           .operands = {x}})),
              ElementsAre(2.5, 3.5, 4.5));
  EXPECT_THAT(
      Values(Eval(
          {.op = "ReduceMax", .operands = {x, Ints({1}, {0})}, .constants = {1}, .opset = 18})),
      ElementsAre(4, 5, 6));
  EXPECT_THAT(Eval({.op = "ReduceProd", .operands = {x}}).shape(), ElementsAre(1, 1));
  EXPECT_THAT(Values(Eval({.op = "ReduceProd", .operands = {x}})), ElementsAre(720));
  EXPECT_THAT(Values(Eval({.op = "ReduceSumSquare",
                           .attributes = {{"noop_with_empty_axes", 1}},
                           .operands = {Floats({2}, {2, 3})},
                           .opset = 18})),
              ElementsAre(4, 9));
  EXPECT_THAT(ErrorOf({.op = "ReduceSum", .operands = {x, Ints({1}, {0})}}),
              HasSubstr("computed at run time"));
}

TEST(OnnxReduce, EveryOperator) {
  const Array x = Floats({3}, {-1, 2, 2});
  const auto of = [&](const std::string& op) {
    return Eval({.op = op, .attributes = {{"keepdims", 0}}, .operands = {x}}).GetDouble(0);
  };
  EXPECT_EQ(of("ReduceSum"), 3);
  EXPECT_EQ(of("ReduceMean"), 1);
  EXPECT_EQ(of("ReduceMax"), 2);
  EXPECT_EQ(of("ReduceMin"), -1);
  EXPECT_EQ(of("ReduceProd"), -4);
  EXPECT_EQ(of("ReduceL1"), 5);
  EXPECT_EQ(of("ReduceL2"), 3);
  EXPECT_EQ(of("ReduceSumSquare"), 9);
  EXPECT_NEAR(of("ReduceLogSum"), std::log(3.0), 1e-6);
  EXPECT_NEAR(of("ReduceLogSumExp"), std::log(std::exp(-1.0) + 2 * std::exp(2.0)), 1e-6);
  EXPECT_EQ(of("ArgMax"), 1);
  EXPECT_EQ(of("ArgMin"), 0);
  EXPECT_EQ(
      Eval({.op = "ArgMax", .attributes = {{"select_last_index", 1}}, .operands = {x}}).GetInt(0),
      2);
  EXPECT_THAT(Values(Eval({.op = "CumSum", .operands = {x, Ints({}, {0})}, .constants = {1}})),
              ElementsAre(-1, 1, 3));
  EXPECT_THAT(Values(Eval({.op = "CumSum",
                           .attributes = {{"exclusive", 1}, {"reverse", 1}},
                           .operands = {x, Ints({}, {0})},
                           .constants = {1}})),
              ElementsAre(4, 2, 0));
}

TEST(OnnxReduce, BooleansAreAnyAndAll) {
  const Array y =
      Eval({.op = "ReduceMax", .operands = {Typed(DataType::kBool, {2}, {0, 1})}, .opset = 20});
  EXPECT_EQ(y.type(), DataType::kBool);
  EXPECT_THAT(Values(y), ElementsAre(1));
}

TEST(OnnxNorm, StatisticsMayBeWiderThanTheData) {
  const Array x = Typed(DataType::kF16, {1, 1, 2}, {1000, 2000});
  const auto y = Eval({.op = "BatchNormalization",
                       .attributes = {{"epsilon", 0.0}},
                       .operands = {x, Floats({1}, {1}), Floats({1}, {0}), Floats({1}, {1000.25F}),
                                    Floats({1}, {1e6F})}});
  EXPECT_EQ(y.type(), DataType::kF16);
  EXPECT_NEAR(y.GetDouble(0), -0.00025, 1e-6);
  EXPECT_NEAR(y.GetDouble(1), 0.99975, 5e-4);
}

TEST(OnnxNorm, MomentsHaveTheStashedType) {
  const Array x = Typed(DataType::kF16, {1, 2}, {40000, -40000});
  const Array one = Typed(DataType::kF16, {2}, {1, 1});
  const auto outputs = RunCall({.op = "LayerNormalization", .operands = {x, one}, .count = 3});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().Format();
  EXPECT_EQ((*outputs)[2].type(), DataType::kF32);
  EXPECT_NEAR((*outputs)[2].GetDouble(0) * 40000, 1, 1e-6);
}

TEST(OnnxNorm, BatchNormalization) {
  const Array x = Floats({1, 2, 1}, {3, 5});
  const std::vector<Array> operands = {x, Floats({2}, {2, 1}), Floats({2}, {1, 0}),
                                       Floats({2}, {1, 5}), Floats({2}, {4, 1})};
  EXPECT_THAT(
      Values(Eval(
          {.op = "BatchNormalization", .attributes = {{"epsilon", 0.0}}, .operands = operands})),
      ElementsAre(3, 0));
  EXPECT_THAT(
      ErrorOf(
          {.op = "BatchNormalization", .attributes = {{"training_mode", 1}}, .operands = operands}),
      HasSubstr("training mode"));
  EXPECT_THAT(ErrorOf({.op = "BatchNormalization", .operands = operands, .opset = 9, .count = 3}),
              HasSubstr("training mode"));
}

TEST(OnnxNorm, LayerInstanceGroupAndRms) {
  const Array x = Floats({1, 2, 2}, {1, 3, 5, 9});
  const std::vector<Attr> exact = {{"epsilon", 0.0}};
  const auto layer = RunCall({.op = "LayerNormalization",
                              .attributes = exact,
                              .operands = {x, Floats({2}, {1, 2}), Floats({2}, {0, 1})},
                              .count = 3});
  ASSERT_TRUE(layer);
  EXPECT_THAT(Values(layer->at(0)), ElementsAre(-1, 3, -1, 3));
  EXPECT_THAT(layer->at(1).shape(), ElementsAre(1, 2, 1));
  EXPECT_THAT(Values(layer->at(1)), ElementsAre(2, 7));
  EXPECT_THAT(Values(layer->at(2)), ElementsAre(1, 0.5));
  const Array ones = Floats({2}, {1, 10});
  const Array zeros = Floats({2}, {0, 0});
  EXPECT_THAT(
      Values(
          Eval({.op = "InstanceNormalization", .attributes = exact, .operands = {x, ones, zeros}})),
      ElementsAre(-1, 1, -10, 10));
  const std::vector<Attr> groups = {{"epsilon", 0.0}, {"num_groups", 2}};
  EXPECT_THAT(Values(Eval({.op = "GroupNormalization",
                           .attributes = groups,
                           .operands = {x, ones, zeros},
                           .opset = 21})),
              ElementsAre(-1, 1, -10, 10));
  // Before opset 21, each group has one scale and one bias. The second group has channels 2 and 3.
  EXPECT_THAT(Values(Eval({.op = "GroupNormalization",
                           .attributes = groups,
                           .operands = {Floats({1, 4, 1}, {1, 3, 5, 9}), ones, zeros},
                           .opset = 18})),
              ElementsAre(-1, 1, -10, 10));
  EXPECT_THAT(Values(Eval({.op = "RMSNormalization",
                           .attributes = exact,
                           .operands = {Floats({1, 2}, {3, 3}), ones},
                           .opset = 23})),
              ElementsAre(1, 10));
}

TEST(OnnxNorm, LrnAndOthers) {
  const Array x = Floats({1, 2, 1, 1}, {1, 2});
  const Array y = Eval({.op = "LRN",
                        .attributes = {{"size", 3}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 1.0}},
                        .operands = {x}});
  EXPECT_NEAR(y.GetDouble(0), 1.0 / 6, 1e-6);
  EXPECT_NEAR(y.GetDouble(1), 2.0 / 6, 1e-6);
  EXPECT_THAT(
      Values(Eval(
          {.op = "LpNormalization", .attributes = {{"p", 1}}, .operands = {Floats({2}, {1, 3})}})),
      ElementsAre(0.25, 0.75));
  const Array z =
      Eval({.op = "MeanVarianceNormalization", .operands = {Floats({1, 1, 1, 2}, {1, 3})}});
  EXPECT_NEAR(z.GetDouble(1), 1, 1e-6);
}

TEST(OnnxNorm, SoftmaxFlattensBeforeOpset13) {
  const Array x = Floats({1, 2, 2}, {0, 0, 0, 0});
  EXPECT_THAT(Values(Eval({.op = "Softmax", .operands = {x}, .opset = 11})),
              ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(Values(Eval({.op = "Softmax", .operands = {x}, .opset = 13})),
              ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_NEAR(Eval({.op = "LogSoftmax", .operands = {x}, .opset = 11}).GetDouble(0), std::log(0.25),
              1e-6);
}

TEST(OnnxNorm, HardmaxMarksTheFirstGreatest) {
  const Array x = Floats({1, 2, 2}, {3, 5, 5, 1});
  EXPECT_THAT(Values(Eval({.op = "Hardmax", .operands = {x}, .opset = 13})),
              ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(Values(Eval({.op = "Hardmax", .operands = {x}, .opset = 11})),
              ElementsAre(0, 1, 0, 0));
}

}  // namespace
}  // namespace tunec::onnx_test
