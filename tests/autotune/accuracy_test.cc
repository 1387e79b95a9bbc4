#include "autotune/accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "autotune/checker/check.h"
#include "ir/rounding.h"
#include "tests/autotune/workloads.h"

namespace tunec {
namespace {

TEST(Accuracy, NamesAndNumbersReadBack) {
  for (const char* text : {"exact", "f32", "tf32", "bf16", "1e-06", "0.25"}) {
    const Result<Accuracy> accuracy = ParseAccuracy(text);
    ASSERT_TRUE(accuracy) << text;
    EXPECT_EQ(Print(*accuracy), text);
    EXPECT_EQ(*ParseAccuracy(Print(*accuracy)), *accuracy);
  }
}

TEST(Accuracy, AnythingElseIsRejected) {
  for (const char* text : {"", "f64", "0", "-1", "inf", "nan", "1e-6x", " 1"}) {
    const Result<Accuracy> accuracy = ParseAccuracy(text);
    ASSERT_FALSE(accuracy) << text;
    EXPECT_EQ(accuracy.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Accuracy, OnlyExactKeepsReductionsAsWritten) {
  EXPECT_EQ(ReductionOrderFor({AccuracyMode::kExact}), ReductionOrder::kAsWritten);
  EXPECT_EQ(ContractionFor({AccuracyMode::kExact}), Contraction::kSeparate);
  EXPECT_EQ(ReductionOrderFor({}), ReductionOrder::kAny);
  EXPECT_EQ(ContractionFor({}), Contraction::kFused);
}

TEST(Accuracy, SaysHowManyTermsAnOperandKeeps) {
  const auto least = [](std::string_view text) {
    return RoundingFreedomFor(*ParseAccuracy(text)).min_bf16_parts;
  };
  EXPECT_EQ(RoundingFreedomFor({AccuracyMode::kExact}).order, ReductionOrder::kAsWritten);
  EXPECT_EQ(least("f32"), 3);
  EXPECT_EQ(least("tf32"), 2);
  EXPECT_EQ(least("bf16"), 1);
  EXPECT_EQ(least("0.01"), 1);
  EXPECT_EQ(least("0.0078125"), 1);
  EXPECT_EQ(least("0.0078"), 2);
  EXPECT_EQ(least("1e-4"), 2);
  EXPECT_EQ(least("1e-6"), 3);
}

TEST(Accuracy, SaysWhetherOperandsMayBeTf32) {
  const auto may = [](std::string_view text) {
    return RoundingFreedomFor(*ParseAccuracy(text)).tf32_operands;
  };
  EXPECT_FALSE(may("exact"));
  EXPECT_FALSE(may("f32"));
  EXPECT_TRUE(may("tf32"));
  EXPECT_TRUE(may("bf16"));
  EXPECT_TRUE(may("0.001"));
  EXPECT_FALSE(may("0.0009"));
}

TEST(Accuracy, SaysHowFarAnotherWayMayBeOff) {
  const auto allowed = [](std::string_view text) {
    return RoundingFreedomFor(*ParseAccuracy(text)).allowed_error;
  };
  EXPECT_EQ(allowed("exact"), 0);
  EXPECT_EQ(allowed("f32"), 0);
  EXPECT_EQ(allowed("tf32"), 0x1p-10);
  EXPECT_EQ(allowed("bf16"), 0x1p-7);
  EXPECT_EQ(allowed("1e-5"), 1e-5);
  EXPECT_EQ(allowed("0.5"), 0.5);
}

Array Floats(std::vector<float> values) {
  Array array(DataType::kF32, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) array.SetDouble(static_cast<int64_t>(i), values[i]);
  return array;
}

Array Doubles(std::vector<double> values) {
  Array array(DataType::kF64, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) array.SetDouble(static_cast<int64_t>(i), values[i]);
  return array;
}

OutputChecker ScheduleChecker(std::vector<double> expected) {
  OutputChecker checker{.name = "y", .expected = Doubles(expected)};
  checker.sequential = Floats({expected.begin(), expected.end()});
  return checker;
}

TEST(Check, ErrorIsRelativeToTheScale) {
  OutputChecker checker = ScheduleChecker({1, 2, 4});
  checker.scale = 4;
  checker.allowed = 0.1;
  const MeasuredError error = MeasureError(Floats({1, 2.25, 4}), checker);
  EXPECT_DOUBLE_EQ(error.e, 0.0625);
  EXPECT_EQ(error.worst, 1);
  EXPECT_EQ(CheckOutputs({Floats({1, 2.25, 4})}, {checker}).problem, "");
  EXPECT_THAT(CheckOutputs({Floats({1, 2, 5})}, {checker}).problem,
              ::testing::HasSubstr("element 2 is 5, expected 4"));
}

TEST(Check, NonFiniteValuesMustMatchInKind) {
  OutputChecker checker = ScheduleChecker({NAN, INFINITY, 1});
  checker.allowed = 1;
  EXPECT_EQ(CheckOutputs({Floats({NAN, INFINITY, 1})}, {checker}).problem, "");
  EXPECT_NE(CheckOutputs({Floats({0, INFINITY, 1})}, {checker}).problem, "");
  EXPECT_NE(CheckOutputs({Floats({NAN, -INFINITY, 1})}, {checker}).problem, "");
  EXPECT_NE(CheckOutputs({Floats({NAN, INFINITY, NAN})}, {checker}).problem, "");
}

// A number that is at least half a unit in the last place above the largest finite number rounds to
// infinity.
TEST(Check, ValuesThatOverflowTheTypeAreInfinite) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    const double largest = LargestFinite(type);
    const double overflows = largest * (1 + RoundingOf(type));
    for (const auto& [expected, given, right] : {std::tuple{overflows, 1.0 * INFINITY, true},
                                                 std::tuple{-overflows, -1.0 * INFINITY, true},
                                                 std::tuple{overflows, -1.0 * INFINITY, false},
                                                 std::tuple{largest, 1.0 * INFINITY, false}}) {
      OutputChecker checker = ScheduleChecker({expected});
      checker.sequential = checker.expected;
      Array actual(type, {1});
      actual.SetDouble(0, given);
      EXPECT_EQ(CheckOutputs({actual}, {checker}).problem.empty(), right) << Name(type) << expected;
    }
  }
}

TEST(Check, IntegersAreExactWhereTheSequentialEvaluationIs) {
  Array expected(DataType::kI64, {2});
  Array sequential(DataType::kI64, {2});
  Array actual(DataType::kI64, {2});
  expected.SetInt(0, 3);
  sequential.SetInt(0, 4);
  const OutputChecker checker{.name = "y", .expected = expected, .sequential = sequential};
  actual.SetInt(0, 4);
  EXPECT_EQ(CheckOutputs({actual}, {checker}).problem, "");
  actual.SetInt(1, 1);
  EXPECT_EQ(CheckOutputs({actual}, {checker}).problem, "y[1] is 1, expected 0");
}

TEST(Check, TolerancesFollowTheContract) {
  const Compute matmul = testing::MatmulRelu();
  std::vector<OutputChecker> checkers = {ScheduleChecker({1, 2, 3})};
  checkers[0].sequential = Floats({1, 2, 3.00001f});
  const ContractionScale five{.magnitude = 5};
  SetTolerances(checkers, matmul, five, {});
  EXPECT_DOUBLE_EQ(checkers[0].scale, 5);
  EXPECT_NEAR(checkers[0].allowed, 1.5 * 1e-5 / 5 + 0x1p-23, 1e-7);
  SetTolerances(checkers, matmul, five, {AccuracyMode::kExact});
  EXPECT_NEAR(checkers[0].allowed, 1e-5 / 5 + 0x1p-23, 1e-7);
  SetTolerances(checkers, matmul, five, {AccuracyMode::kBound, 0.5});
  EXPECT_DOUBLE_EQ(checkers[0].allowed, 0.5);
  SetTolerances(checkers, testing::SoftmaxRows(), std::nullopt, {});
  EXPECT_DOUBLE_EQ(checkers[0].scale, 3);
  EXPECT_GE(checkers[0].allowed, 2e-6);
}

}  // namespace
}  // namespace tunec
