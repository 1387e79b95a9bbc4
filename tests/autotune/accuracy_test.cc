#include "autotune/accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "autotune/judge/check.h"
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

TEST(Accuracy, AnythingElseIsRefused) {
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
    return RoundingFreedomFor(*ParseAccuracy(text)).least_terms;
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

OutputJudge Judge(std::vector<double> expected) {
  OutputJudge judge{.name = "y", .expected = Doubles(expected)};
  judge.sequential = Floats({expected.begin(), expected.end()});
  return judge;
}

TEST(Check, ErrorIsRelativeToTheScale) {
  OutputJudge judge = Judge({1, 2, 4});
  judge.scale = 4;
  judge.allowed = 0.1;
  const MeasuredError error = MeasureError(Floats({1, 2.25, 4}), judge);
  EXPECT_DOUBLE_EQ(error.e, 0.0625);
  EXPECT_EQ(error.worst, 1);
  EXPECT_EQ(JudgeOutputs({Floats({1, 2.25, 4})}, {judge}).problem, "");
  EXPECT_THAT(JudgeOutputs({Floats({1, 2, 5})}, {judge}).problem,
              ::testing::HasSubstr("element 2 is 5, expected 4"));
}

TEST(Check, NonFiniteValuesMustMatchInKind) {
  OutputJudge judge = Judge({NAN, INFINITY, 1});
  judge.allowed = 1;
  EXPECT_EQ(JudgeOutputs({Floats({NAN, INFINITY, 1})}, {judge}).problem, "");
  EXPECT_NE(JudgeOutputs({Floats({0, INFINITY, 1})}, {judge}).problem, "");
  EXPECT_NE(JudgeOutputs({Floats({NAN, -INFINITY, 1})}, {judge}).problem, "");
  EXPECT_NE(JudgeOutputs({Floats({NAN, INFINITY, NAN})}, {judge}).problem, "");
}

TEST(Check, IntegersAreExactWhereTheSequentialEvaluationIs) {
  Array expected(DataType::kI64, {2});
  Array sequential(DataType::kI64, {2});
  Array actual(DataType::kI64, {2});
  expected.SetInt(0, 3);
  sequential.SetInt(0, 4);
  const OutputJudge judge{.name = "y", .expected = expected, .sequential = sequential};
  actual.SetInt(0, 4);
  EXPECT_EQ(JudgeOutputs({actual}, {judge}).problem, "");
  actual.SetInt(1, 1);
  EXPECT_EQ(JudgeOutputs({actual}, {judge}).problem, "y[1] is 1, expected 0");
}

TEST(Check, AllowancesFollowTheContract) {
  const Compute matmul = testing::MatmulRelu();
  std::vector<OutputJudge> judges = {Judge({1, 2, 3})};
  judges[0].sequential = Floats({1, 2, 3.00001f});
  const ContractionScale five{.magnitude = 5};
  SetAllowances(judges, matmul, five, {});
  EXPECT_DOUBLE_EQ(judges[0].scale, 5);
  EXPECT_NEAR(judges[0].allowed, 1.5 * 1e-5 / 5 + 0x1p-23, 1e-7);
  SetAllowances(judges, matmul, five, {AccuracyMode::kExact});
  EXPECT_NEAR(judges[0].allowed, 1e-5 / 5 + 0x1p-23, 1e-7);
  SetAllowances(judges, matmul, five, {AccuracyMode::kBound, 0.5});
  EXPECT_DOUBLE_EQ(judges[0].allowed, 0.5);
  SetAllowances(judges, testing::SoftmaxRows(), std::nullopt, {});
  EXPECT_DOUBLE_EQ(judges[0].scale, 3);
  EXPECT_GE(judges[0].allowed, 2e-6);
}

}  // namespace
}  // namespace tunec
