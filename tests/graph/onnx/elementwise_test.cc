// Tests of the ONNX handlers of element-wise operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const float kInf = std::numeric_limits<float>::infinity();

/// Returns the operator's result for `x`, or NaN if the result does not have exactly one element.
double At(const std::string& op, float x, std::vector<Attr> attributes = {}, int64_t opset = 22) {
  const Array y =
      Eval({.op = op, .attributes = attributes, .operands = {Floats({1}, {x})}, .opset = opset});
  return y.size() == 1 ? y.GetDouble(0) : std::nan("");
}

TEST(OnnxElementwise, Functions) {
  const auto near = [](double a, double b) {
    EXPECT_NEAR(a, b, 1e-6 * std::max(1.0, std::abs(b)));
  };
  near(At("Abs", -2), 2);
  near(At("Acos", 0.5), std::acos(0.5));
  near(At("Acosh", 2), std::acosh(2.0));
  near(At("Asin", 0.5), std::asin(0.5));
  near(At("Asinh", 0.5), std::asinh(0.5));
  near(At("Atan", 0.5), std::atan(0.5));
  near(At("Atanh", 0.5), std::atanh(0.5));
  near(At("Ceil", 1.2f), 2);
  near(At("Cos", 0.5), std::cos(0.5));
  near(At("Cosh", 0.5), std::cosh(0.5));
  near(At("Erf", 0.5), std::erf(0.5));
  near(At("Exp", 0.5), std::exp(0.5));
  near(At("Floor", -1.2f), -2);
  near(At("Log", 2), std::log(2.0));
  near(At("Neg", 2), -2);
  near(At("Reciprocal", 4), 0.25);
  near(At("Relu", -3), 0);
  near(At("Round", 2.5), 2);
  near(At("Sigmoid", 1), 1 / (1 + std::exp(-1.0)));
  near(At("Sign", -3), -1);
  near(At("Sin", 0.5), std::sin(0.5));
  near(At("Sinh", 0.5), std::sinh(0.5));
  near(At("Softplus", 1), std::log1p(std::exp(1.0)));
  near(At("Softsign", -1), -0.5);
  near(At("Sqrt", 9), 3);
  near(At("Tan", 0.5), std::tan(0.5));
  near(At("Tanh", 0.5), std::tanh(0.5));
  near(At("HardSwish", 1), 1 * (1.0 / 6 + 0.5));
  near(At("Mish", 1), std::tanh(std::log1p(std::exp(1.0))));
  near(At("Identity", 7), 7);
}

TEST(OnnxElementwise, FunctionsWithAttributes) {
  const auto near = [](double a, double b) { EXPECT_NEAR(a, b, 1e-6); };
  near(At("LeakyRelu", -2), -0.02);
  near(At("LeakyRelu", -2, {{"alpha", 0.5}}), -1);
  near(At("Elu", -1, {{"alpha", 2.0}}), 2 * std::expm1(-1.0));
  near(At("Celu", -1, {{"alpha", 2.0}}), 2 * std::expm1(-0.5));
  near(At("Selu", 1, {{"alpha", 2.0}, {"gamma", 3.0}}), 3);
  near(At("Selu", 1), 1.05070102214813);
  near(At("HardSigmoid", 1), 0.7);
  near(At("HardSigmoid", 1, {{"alpha", 0.1}, {"beta", 0.25}}), 0.35);
  near(At("ThresholdedRelu", 0.5), 0);
  near(At("ThresholdedRelu", 0.5, {{"alpha", 0.25}}), 0.5);
  near(At("Gelu", 1), 0.5 * (1 + std::erf(std::sqrt(0.5))));
  near(At("Gelu", 1, {{"approximate", "tanh"}}), 0.841192);
  near(At("Shrink", 2, {{"lambd", 1.5}, {"bias", 1.5}}), 0.5);
  near(At("Shrink", -2, {{"lambd", 1.5}, {"bias", 1.5}}), -0.5);
  near(At("Shrink", 1, {{"lambd", 1.5}, {"bias", 1.5}}), 0);
}

// Shrink's attributes are floats for every operand type. An integer cannot represent 1e30 or NaN.
TEST(OnnxElementwise, AttributesBeyondTheIntegersAreTheNearestOnes) {
  const Array x = Ints({2}, {-5, 5});
  EXPECT_THAT(Values(Eval({.op = "Shrink", .attributes = {{"lambd", 1e30}}, .operands = {x}})),
              ElementsAre(0, 0));
  EXPECT_THAT(Values(Eval({.op = "Shrink",
                           .attributes = {{"lambd", std::nan("")}, {"bias", 1.0}},
                           .operands = {x}})),
              ElementsAre(-4, 4));
}

TEST(OnnxElementwise, Predicates) {
  const Array x = Floats({4}, {1, kInf, -kInf, std::nanf("")});
  EXPECT_THAT(Values(Eval({.op = "IsNaN", .operands = {x}})), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(Values(Eval({.op = "IsInf", .operands = {x}})), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(
      Values(Eval({.op = "IsInf", .attributes = {{"detect_negative", 0}}, .operands = {x}})),
      ElementsAre(0, 1, 0, 0));
}

TEST(OnnxElementwise, ClipTakesAttributesBeforeOpset11AndInputsAfter) {
  const Array x = Floats({3}, {-2, 0.5, 9});
  EXPECT_THAT(
      Values(Eval(
          {.op = "Clip", .attributes = {{"min", 0.0}, {"max", 6.0}}, .operands = {x}, .opset = 7})),
      ElementsAre(0, 0.5, 6));
  EXPECT_THAT(
      Values(Eval(
          {.op = "Clip", .operands = {x, Floats({}, {0}), Floats({}, {6})}, .constants = {1, 2}})),
      ElementsAre(0, 0.5, 6));
  EXPECT_THAT(
      Values(Eval({.op = "Clip", .operands = {x, Absent(), Floats({}, {6})}, .constants = {2}})),
      ElementsAre(-2, 0.5, 6));
  // The bounds are operands that are not constants.
  EXPECT_THAT(Values(Eval({.op = "Clip", .operands = {x, Floats({}, {0}), Floats({}, {6})}})),
              ElementsAre(0, 0.5, 6));
  EXPECT_THAT(
      Values(
          Eval({.op = "Clip", .operands = {Ints({2}, {-5, 5}), Ints({}, {0})}, .constants = {1}})),
      ElementsAre(0, 5));
  const Array clipped =
      Eval({.op = "Clip", .operands = {Floats({}, {3}), Floats({1}, {0}), Floats({1}, {2})}});
  EXPECT_THAT(Values(clipped), ElementsAre(2));
  EXPECT_TRUE(clipped.shape().empty());
  EXPECT_THAT(ErrorOf({.op = "Clip", .operands = {x, Floats({3}, {0, 1, 2})}}),
              HasSubstr("bound 1 has 3 elements, expected one"));
}

TEST(OnnxElementwise, CastAndCastLike) {
  const Array x = Floats({3}, {-1.5, 0, 2.7f});
  EXPECT_THAT(Values(Eval({.op = "Cast", .attributes = {{"to", 7}}, .operands = {x}})),
              ElementsAre(-1, 0, 2));
  EXPECT_THAT(Values(Eval({.op = "Cast", .attributes = {{"to", 9}}, .operands = {x}})),
              ElementsAre(1, 0, 1));
  EXPECT_EQ(Eval({.op = "CastLike", .operands = {x, Ints({1}, {0})}}).type(), DataType::kI64);
  EXPECT_THAT(ErrorOf({.op = "Cast", .attributes = {{"to", 8}}, .operands = {x}}),
              HasSubstr("string"));
}

TEST(OnnxElementwise, DropoutPassesThrough) {
  const auto outputs = RunCall({.op = "Dropout", .operands = {Floats({2}, {1, 2})}, .count = 2});
  ASSERT_TRUE(outputs);
  EXPECT_THAT(Values(outputs->at(0)), ElementsAre(1, 2));
  EXPECT_EQ(outputs->at(1).type(), DataType::kBool);
  EXPECT_THAT(Values(outputs->at(1)), ElementsAre(1, 1));
  EXPECT_THAT(
      ErrorOf({.op = "Dropout",
               .operands = {Floats({1}, {1}), Floats({}, {0.5}), Typed(DataType::kBool, {}, {1})},
               .constants = {1, 2}}),
      HasSubstr("training mode"));
}

TEST(OnnxElementwise, BinaryOperatorsBroadcast) {
  const Array a = Floats({2, 1}, {7, 8});
  const Array b = Floats({2}, {2, 4});
  const auto of = [&](const std::string& op) {
    return Values(Eval({.op = op, .operands = {a, b}}));
  };
  EXPECT_THAT(of("Add"), ElementsAre(9, 11, 10, 12));
  EXPECT_THAT(of("Sub"), ElementsAre(5, 3, 6, 4));
  EXPECT_THAT(of("Mul"), ElementsAre(14, 28, 16, 32));
  EXPECT_THAT(of("Div"), ElementsAre(3.5, 1.75, 4, 2));
  EXPECT_THAT(of("Max"), ElementsAre(7, 7, 8, 8));
  EXPECT_THAT(of("Min"), ElementsAre(2, 4, 2, 4));
  EXPECT_THAT(of("Sum"), ElementsAre(9, 11, 10, 12));
  EXPECT_THAT(of("Mean"), ElementsAre(4.5, 5.5, 5, 6));
  EXPECT_THAT(of("Pow"), ElementsAre(49, 2401, 64, 4096));
  EXPECT_THAT(of("Greater"), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(of("Less"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(of("Equal"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(of("GreaterOrEqual"), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(of("LessOrEqual"), ElementsAre(0, 0, 0, 0));
}

TEST(OnnxElementwise, BeforeOpset7AxesSayWhereOperandsMeet) {
  const Array x = Counting({2, 3, 2});
  const auto add = [&](std::vector<Attr> attributes, const Array& y) {
    return Values(Eval({.op = "Add", .attributes = attributes, .operands = {x, y}, .opset = 6}));
  };
  EXPECT_THAT(add({{"broadcast", 1}, {"axis", 1}}, Floats({3}, {10, 20, 30})),
              ElementsAre(10, 11, 22, 23, 34, 35, 16, 17, 28, 29, 40, 41));
  EXPECT_THAT(add({{"broadcast", 1}}, Floats({2}, {10, 20})),
              ElementsAre(10, 21, 12, 23, 14, 25, 16, 27, 18, 29, 20, 31));
  EXPECT_THAT(ErrorOf({.op = "Add",
                       .attributes = {{"broadcast", 1}, {"axis", 2}},
                       .operands = {x, Counting({3, 2})},
                       .opset = 6}),
              HasSubstr("does not fit at axis 2"));
}

TEST(OnnxElementwise, IntegerOperators) {
  const Array a = Ints({3}, {-7, 7, 7});
  const Array b = Ints({3}, {3, -3, 3});
  EXPECT_THAT(Values(Eval({.op = "Mod", .operands = {a, b}})), ElementsAre(2, -2, 1));
  EXPECT_THAT(Values(Eval({.op = "Mod", .attributes = {{"fmod", 1}}, .operands = {a, b}})),
              ElementsAre(-1, 1, 1));
  EXPECT_THAT(Values(Eval({.op = "Div", .operands = {a, b}})), ElementsAre(-2, -2, 2));
  const Array u = Typed(DataType::kU8, {2}, {12, 5});
  const Array v = Typed(DataType::kU8, {2}, {2, 1});
  const auto bits = [&](const std::string& op, std::vector<Attr> attributes = {}) {
    return Values(Eval({.op = op, .attributes = attributes, .operands = {u, v}, .opset = 18}));
  };
  EXPECT_THAT(bits("BitShift", {{"direction", "LEFT"}}), ElementsAre(48, 10));
  EXPECT_THAT(bits("BitShift", {{"direction", "RIGHT"}}), ElementsAre(3, 2));
  EXPECT_THAT(bits("BitwiseAnd"), ElementsAre(0, 1));
  EXPECT_THAT(bits("BitwiseOr"), ElementsAre(14, 5));
  EXPECT_THAT(bits("BitwiseXor"), ElementsAre(14, 4));
  EXPECT_THAT(Values(Eval({.op = "BitwiseNot", .operands = {u}, .opset = 18})),
              ElementsAre(243, 250));
}

TEST(OnnxElementwise, BooleanOperators) {
  const Array a = Typed(DataType::kBool, {4}, {0, 0, 1, 1});
  const Array b = Typed(DataType::kBool, {4}, {0, 1, 0, 1});
  EXPECT_THAT(Values(Eval({.op = "And", .operands = {a, b}})), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(Values(Eval({.op = "Or", .operands = {a, b}})), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(Values(Eval({.op = "Xor", .operands = {a, b}})), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(Values(Eval({.op = "Not", .operands = {a}})), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(
      Values(Eval({.op = "Where", .operands = {a, Floats({}, {1}), Floats({4}, {5, 6, 7, 8})}})),
      ElementsAre(5, 6, 1, 1));
}

TEST(OnnxElementwise, PowMixesTypes) {
  EXPECT_THAT(Values(Eval({.op = "Pow", .operands = {Floats({2}, {2, 3}), Ints({}, {3})}})),
              ElementsAre(8, 27));
  const Array y = Eval({.op = "Pow", .operands = {Ints({2}, {4, 9}), Floats({}, {0.5})}});
  EXPECT_EQ(y.type(), DataType::kI64);
  EXPECT_THAT(Values(y), ElementsAre(2, 3));
}

TEST(OnnxElementwise, PreluTakesOneSlopePerChannel) {
  const Array x = Floats({1, 2, 1, 2}, {-1, 1, -2, 2});
  EXPECT_THAT(Values(Eval({.op = "PRelu", .operands = {x, Floats({2, 1, 1}, {0.5, 0.25})}})),
              ElementsAre(-0.5, 1, -0.5, 2));
  const Array wide = Floats({1, 2, 1, 3}, {-1, 1, 1, -2, 2, 2});
  EXPECT_THAT(Values(Eval({.op = "PRelu", .operands = {wide, Floats({2}, {0.5, 0.25})}})),
              ElementsAre(-0.5, 1, 1, -0.5, 2, 2));
}

TEST(OnnxElementwise, MicrosoftsGelus) {
  const Array x = Floats({1}, {1});
  const auto of = [&](const std::string& op, std::vector<Array> operands) {
    return Eval({.op = op, .operands = operands, .domain = "com.microsoft"}).GetDouble(0);
  };
  EXPECT_NEAR(of("Gelu", {x}), 0.841345, 1e-5);
  EXPECT_NEAR(of("FastGelu", {x}), 0.841192, 1e-5);
  EXPECT_NEAR(of("BiasGelu", {Floats({1}, {0.5}), Floats({1}, {0.5})}), 0.841345, 1e-5);
  EXPECT_NEAR(of("QuickGelu", {x}), 1 / (1 + std::exp(-1.702)), 1e-5);
}

TEST(OnnxElementwise, QuantizesLinearly) {
  const Array q = Typed(DataType::kU8, {3}, {0, 128, 255});
  const Array scale = Floats({}, {0.5});
  const Array zero = Typed(DataType::kU8, {}, {128});
  EXPECT_THAT(Values(Eval({.op = "DequantizeLinear", .operands = {q, scale, zero}})),
              ElementsAre(-64, 0, 63.5));
  EXPECT_THAT(Values(Eval({.op = "QuantizeLinear",
                           .operands = {Floats({4}, {-64, 0.25, 0.75, 999}), scale, zero}})),
              ElementsAre(0, 128, 130, 255));
  const Array matrix = Typed(DataType::kI8, {2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(Values(Eval({.op = "DequantizeLinear",
                           .attributes = {{"axis", 0}},
                           .operands = {matrix, Floats({2}, {1, 10})}})),
              ElementsAre(1, 2, 30, 40));
}

TEST(OnnxElementwise, QuantisationOfHalvesIsComputedWide) {
  const auto half = [](std::vector<double> values) {
    return Typed(DataType::kF16, {static_cast<int64_t>(values.size())}, values);
  };
  // f16 cannot represent the scale 2e-8.
  const Array zero = Typed(DataType::kU8, {}, {0});
  EXPECT_THAT(Values(Eval({.op = "QuantizeLinear",
                           .operands = {half({1e-6}), Floats({}, {2e-8F}), zero},
                           .opset = 21})),
              ElementsAre(51));
  // f16 has no finite number above 65,504.
  const Array level = Typed(DataType::kI32, {1}, {100000});
  const double scale = half({0.001}).GetDouble(0);
  const auto y = Eval({.op = "DequantizeLinear",
                       .operands = {level, Typed(DataType::kF16, {}, {scale})},
                       .opset = 21});
  EXPECT_EQ(y.type(), DataType::kF16);
  EXPECT_NEAR(y.GetDouble(0), 100000 * scale, 0.04);
}

TEST(OnnxElementwise, PowersOfHalvesTakeWiderExponents) {
  const Array base = Typed(DataType::kF16, {1}, {100});
  const Array exponent = Floats({1}, {2.0009F});  // 2 in f16
  EXPECT_NEAR(Eval({.op = "Pow", .operands = {base, exponent}}).GetDouble(0), 10041.5, 4);
}

TEST(OnnxElementwise, AttributesOfTheWrongKindAreErrors) {
  EXPECT_THAT(
      ErrorOf({.op = "LeakyRelu", .attributes = {{"alpha", 1}}, .operands = {Floats({1}, {1})}}),
      HasSubstr("attribute 'alpha' has another kind, expected a float"));
}

}  // namespace
}  // namespace tunec::onnx_test
