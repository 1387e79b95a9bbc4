// Tests of RNN, GRU and LSTM against their equations for one unit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Pointwise;

MATCHER(IsNear, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 1e-5; }

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The inputs of two time steps. There is one sequence, and each step has one feature.
const std::vector<float> kInputs = {0.5, -1};

TEST(OnnxRecurrent, RnnForwardAndBackward) {
  const auto run = [](const char* direction, int directions) {
    const auto results = RunCall(
        {.op = "RNN",
         .attributes = {{"hidden_size", 1}, {"direction", direction}},
         .operands = {Floats({2, 1, 1}, kInputs), Counting({directions, 1, 1}, 2, 0),
                      Counting({directions, 1, 1}, 3, 0), Counting({directions, 2}, 0.25, 0)},
         .count = 2});
    EXPECT_TRUE(results) << results.error().Format();
    std::vector<double> values = Values((*results)[0]);
    for (const double last : Values((*results)[1])) values.push_back(last);
    return values;
  };
  const double a = std::tanh(2 * 0.5 + 0.5);
  const double b = std::tanh(2 * -1 + 3 * a + 0.5);
  const double d = std::tanh(2 * -1 + 0.5);
  const double c = std::tanh(2 * 0.5 + 3 * d + 0.5);
  EXPECT_THAT(run("forward", 1), Pointwise(IsNear(), {a, b, b}));
  EXPECT_THAT(run("reverse", 1), Pointwise(IsNear(), {c, d, c}));
  EXPECT_THAT(run("bidirectional", 2), Pointwise(IsNear(), {a, c, b, d, b, c}));
}

TEST(OnnxRecurrent, ShorterSequencesEndInZeros) {
  const auto results = RunCall({.op = "RNN",
                                .attributes = {{"hidden_size", 1}, {"direction", "reverse"}},
                                .operands = {Floats({2, 1, 1}, kInputs), Floats({1, 1, 1}, {2}),
                                             Floats({1, 1, 1}, {3}), Absent(), Ints({1}, {1})},
                                .count = 2});
  ASSERT_TRUE(results) << results.error().Format();
  const double a = std::tanh(1.0);
  EXPECT_THAT(Values((*results)[0]), Pointwise(IsNear(), {a, 0.0}));
  EXPECT_THAT(Values((*results)[1]), Pointwise(IsNear(), {a}));
}

TEST(OnnxRecurrent, WithoutStepsTheStateStays) {
  const auto results =
      RunCall({.op = "RNN",
               .attributes = {{"hidden_size", 1}},
               .operands = {Floats({0, 2, 1}, {}), Floats({1, 1, 1}, {2}), Floats({1, 1, 1}, {3}),
                            Absent(), Absent(), Floats({1, 2, 1}, {7, 8})},
               .count = 2});
  ASSERT_TRUE(results) << results.error().Format();
  EXPECT_EQ((*results)[0].shape(), (std::vector<int64_t>{0, 1, 2, 1}));
  EXPECT_THAT(Values((*results)[1]), Pointwise(IsNear(), {7.0, 8.0}));
}

TEST(OnnxRecurrent, OperandsOfOtherRanksAreRejectedByName) {
  const auto error = [](const Array& bias) {
    return ErrorOf({.op = "RNN",
                    .attributes = {{"hidden_size", 1}},
                    .operands = {Floats({2, 1, 1}, kInputs), Floats({1, 1, 1}, {2}),
                                 Floats({1, 1, 1}, {3}), bias}});
  };
  EXPECT_THAT(error(Floats({2}, {1, 2})),
              testing::HasSubstr("(RNN): input 3 ('x3') is 2, of rank 1, expected rank 2"));
  EXPECT_THAT(error(Floats({}, {1})),
              testing::HasSubstr("(RNN): input 3 ('x3') is a scalar, of rank 0, expected rank 2"));
}

TEST(OnnxRecurrent, GruResetsBeforeOrBehindTheProduct) {
  const auto last = [](int linear) {
    return Eval({.op = "GRU",
                 .attributes = {{"hidden_size", 1}, {"linear_before_reset", linear}},
                 .operands = {Floats({1, 1, 1}, {0.5}), Floats({1, 3, 1}, {1, 2, 3}),
                              Floats({1, 3, 1}, {4, 5, 6}),
                              Floats({1, 6}, {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F}), Absent(),
                              Floats({1, 1, 1}, {0.25})}})
        .GetDouble(0);
  };
  const double z = Sigmoid(0.5 + 4 * 0.25 + 0.1 + 0.4);
  const double r = Sigmoid(1 + 5 * 0.25 + 0.2 + 0.5);
  const double before = std::tanh(1.5 + 6 * (r * 0.25) + 0.3 + 0.6);
  const double behind = std::tanh(1.5 + r * (6 * 0.25 + 0.6) + 0.3);
  EXPECT_NEAR(last(0), (1 - z) * before + z * 0.25, 1e-5);
  EXPECT_NEAR(last(1), (1 - z) * behind + z * 0.25, 1e-5);
}

TEST(OnnxRecurrent, LstmWithPeepholes) {
  const auto results = RunCall(
      {.op = "LSTM",
       .attributes = {{"hidden_size", 1}},
       .operands = {Floats({1, 1, 1}, {0.5}), Floats({1, 4, 1}, {1, 2, 3, 4}),
                    Floats({1, 4, 1}, {5, 6, 7, 8}), Absent(), Absent(), Floats({1, 1, 1}, {0.1F}),
                    Floats({1, 1, 1}, {0.2F}), Floats({1, 3}, {0.7F, 0.8F, 0.9F})},
       .count = 3});
  ASSERT_TRUE(results) << results.error().Format();
  const double i = Sigmoid(0.5 + 5 * 0.1 + 0.7 * 0.2);
  const double f = Sigmoid(1.5 + 7 * 0.1 + 0.9 * 0.2);
  const double c = f * 0.2 + i * std::tanh(2 + 8 * 0.1);
  const double o = Sigmoid(1 + 6 * 0.1 + 0.8 * c);
  const double h = o * std::tanh(c);
  EXPECT_THAT(Values((*results)[0]), Pointwise(IsNear(), {h}));
  EXPECT_THAT(Values((*results)[1]), Pointwise(IsNear(), {h}));
  EXPECT_THAT(Values((*results)[2]), Pointwise(IsNear(), {c}));
  EXPECT_THAT(
      ErrorOf({.op = "RNN",
               .attributes = {{"hidden_size", 1}},
               .operands = {Counting({2000, 1, 1}), Counting({1, 1, 1}), Counting({1, 1, 1})}}),
      HasSubstr("a sequence of 2000 steps"));
}

}  // namespace
}  // namespace tunec::onnx_test
