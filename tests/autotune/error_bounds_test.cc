#include "autotune/checker/error_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "autotune/checker/check.h"
#include "autotune/checker/kernel_reference.h"
#include "ir/interpret/interpret.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/must_parse.h"

namespace tunec {
namespace {

using test::MustParse;
using testing::MatmulRelu;
using testing::QuantisedMatmul;
using testing::SoftmaxRows;

// Returns the error bound of y = `expression` if the float32 x[i] is `x`. Returns no value if
// WithErrorBounds returns none.
std::optional<double> BoundOf(const std::string& expression, double x, DataType type) {
  const Compute compute = MustParse(fmt::format(
      "compute c {{\n  input x: f32[1]\n  output y: {}[1]\n  out[i: 1]:\n    y[i] = {}\n}}\n",
      Name(type), expression));
  const std::optional<Compute> bounded = WithErrorBounds(compute, {});
  if (!bounded) return std::nullopt;
  if (const Status valid = Verify(*bounded); !valid) ADD_FAILURE() << valid.error().Format();
  const Result<Compute> again = ParseCompute(Print(*bounded), "again");
  if (!again || *again != *bounded) ADD_FAILURE() << Print(*bounded);
  Array input(DataType::kF64, {1});
  input.MutableAs<double>()[0] = x;
  const auto outputs = Interpret(*bounded, std::vector<Array>{input}, Precision::kNative);
  if (!outputs) ADD_FAILURE() << outputs.error().Format();
  return outputs ? std::optional(outputs->back().GetDouble(0)) : std::nullopt;
}

std::optional<double> BoundOf(const std::string& expression, double x) {
  return BoundOf(expression, x, DataType::kF32);
}

TEST(ErrorBounds, OneStepAtAnEdgeAndNoneElsewhere) {
  // 0.1 as float32 is larger than 0.1, so the products exceed the edges 2.5 and 3 by about 4e-8.
  // This is less than half a unit in the last place.
  for (const char* step : {"round", "floor", "ceil", "trunc"}) {
    const double edge = std::string(step) == "round" ? 25 : 30;
    const std::string expression = fmt::format("{}(x[i] * 0.1)", step);
    EXPECT_EQ(BoundOf(expression, edge), 1.0) << step;
    EXPECT_EQ(BoundOf(expression, 24), 0.0) << step;
  }
  EXPECT_EQ(BoundOf("i8(x[i] * 0.1)", 30, DataType::kI8), 1.0);
  EXPECT_EQ(BoundOf("i8(x[i] * 0.1)", 24, DataType::kI8), 0.0);
  EXPECT_EQ(BoundOf("sign(x[i] * 0.1 - 3.0)", 30), 2.0);
  EXPECT_NEAR(*BoundOf("floormod(x[i] * 0.1, 3.0)", 30), 3, 1e-6);
  EXPECT_LT(*BoundOf("floormod(x[i] * 0.1, 3.0)", 24), 1e-6);
}

TEST(ErrorBounds, WhatIsExactHasNoSteps) {
  EXPECT_EQ(BoundOf("round(x[i])", 2.5), std::nullopt);
  EXPECT_EQ(BoundOf("select(lt(x[i], 0.0), 1.0, 2.0)", 0), std::nullopt);
  EXPECT_EQ(BoundOf("floor(round(x[i]) + 3.0) * 2.0", 2.5), std::nullopt);
}

TEST(ErrorBounds, ContinuousFunctionsAreNoSteps) {
  for (const char* function : {"max(x[i] * 0.1, 0.0)", "min(x[i] * 0.1, 6.0)", "abs(x[i] * 0.1)",
                               "exp(x[i] * 0.1)", "sqrt(x[i] * 0.1)", "tanh(x[i])"}) {
    EXPECT_EQ(BoundOf(function, 30), std::nullopt) << function;
  }
}

TEST(ErrorBounds, EitherBranchWhereAComparisonMayGoEitherWay) {
  const std::string select = "select(lt(x[i] * 0.1, 3.0), 100.0, -50.0)";
  EXPECT_EQ(BoundOf(select, 30), 150.0);
  EXPECT_EQ(BoundOf(select, 29), 0.0);
  EXPECT_EQ(BoundOf("le(x[i] * 0.1, 3.0)", 30, DataType::kBool), 1.0);
  EXPECT_EQ(BoundOf("le(x[i] * 0.1, 3.0)", 31, DataType::kBool), 0.0);
  // The branches are nearly equal at this edge, so the bound only has the error of rounding.
  EXPECT_LT(*BoundOf("select(lt(x[i] * 0.1, 3.0), x[i] * 0.1, 3.0)", 30), 1e-6);
}

TEST(ErrorBounds, StepsInAChain) {
  // At the edge the first step gives 2 or 3, so the second step rounds 1.25 or 1.75.
  EXPECT_EQ(BoundOf("round(round(x[i] * 0.1) * 0.5 + 0.25)", 25), 1.0);
  EXPECT_EQ(BoundOf("round(round(x[i] * 0.1) * 0.5 + 0.25)", 24), 0.0);
  // The results of `round` are whole numbers, so clipping, adding 3 and casting are exact.
  EXPECT_EQ(BoundOf("i8(min(max(round(x[i] * 0.1) + 3.0, -128.0), 127.0))", 24, DataType::kI8),
            0.0);
  EXPECT_NEAR(*BoundOf("f32(i8(round(x[i] * 0.1))) * 0.25", 25), 0.25, 1e-6);
}

TEST(ErrorBounds, FunctionsCarryErrorsOn) {
  // log(x) * 10 is near the edge 23.5 for x = exp(2.35).
  EXPECT_EQ(BoundOf("round(log(x[i]) * 10.0)", std::exp(2.35)), 1.0);
  EXPECT_EQ(BoundOf("round(log(x[i]) * 10.0)", std::exp(2.33)), 0.0);
  EXPECT_EQ(BoundOf("round(4.0 / (1.0 + exp(neg(x[i]))) + 0.5)", 0), 1.0);
  EXPECT_EQ(BoundOf("round(4.0 / (1.0 + exp(neg(x[i]))) + 0.5)", 0.1), 0.0);
}

TEST(ErrorBounds, LargeExpressionsAreBoundedOrGivenUpQuickly) {
  // Each iteration applies the function v * sigmoid(v) to the expression.
  std::string expression = "x[i] * 0.1";
  for (int depth = 0; depth < 3; ++depth) {
    expression = fmt::format("({0}) / (1.0 + exp(neg({0})))", expression);
  }
  EXPECT_EQ(BoundOf(fmt::format("round({})", expression), 10), 0.0);
  for (int depth = 0; depth < 4; ++depth) expression = fmt::format("({0}) * ({0})", expression);
  EXPECT_EQ(BoundOf(fmt::format("round(round(round({})))", expression), 10), std::nullopt);
}

TEST(ErrorBounds, GroupsWithoutStepsHaveNone) {
  for (const Compute& compute : {MatmulRelu(), SoftmaxRows()}) {
    EXPECT_FALSE(HasSteps(compute)) << compute.name;
  }
  EXPECT_TRUE(HasSteps(QuantisedMatmul()));
}

TEST(ErrorBounds, SumsAndMaximaPassTheirTermsErrorsOn) {
  const Compute compute = MustParse(R"(
    compute rows {
      input X: f32[4, 9]
      output Y: f32[4]
      workspace m: f32[4]
      workspace s: f32[4]
      top[i: 4, j: 9 reduction]:
        m[i] max= round(X[i, j] * 0.1)
      total[i: 4, j: 9 reduction]:
        s[i] sum= round(X[i, j] * 0.1)
      out[i: 4]:
        Y[i] = m[i] + s[i]
    })");
  const std::optional<Compute> bounded = WithErrorBounds(compute, {0});
  ASSERT_TRUE(bounded);
  ASSERT_TRUE(Verify(*bounded)) << Verify(*bounded).error().Format();
  Array input(DataType::kF64, {4, 9});
  for (int64_t j = 0; j < 9; ++j) {
    input.MutableAs<double>()[j] = 24;      // no value at an edge
    input.MutableAs<double>()[9 + j] = 25;  // all values at the edge
    input.MutableAs<double>()[18 + j] = j == 3 ? 25 : 44;
    input.MutableAs<double>()[27 + j] = j == 3 ? 25 : 14;
  }
  const auto outputs = Interpret(*bounded, std::vector<Array>{input}, Precision::kNative);
  ASSERT_TRUE(outputs) << outputs.error().Format();
  const double expected[] = {0, 1 + 9, 1 + 1, 1 + 1};
  for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(outputs->back().GetDouble(i), expected[i], 1e-5) << i;
}

class StepsTest : public ::testing::Test {
 protected:
  StepsTest() {
    Result<KernelReference> made =
        ComputeKernelReference(QuantisedMatmul(), {}, 7, DetectCpu(2), pool_);
    if (made) reference_ = std::move(*made);
    if (!made) ADD_FAILURE() << made.error().Format();
  }
  // Checks the correct outputs with `change` added to one element of one output.
  Verdict CheckedWith(size_t output, int64_t element, double change) {
    std::vector<Array> actual;
    for (const OutputChecker& checker : reference_.checkers) {
      Array array(checker.sequential.type(), checker.sequential.shape());
      for (int64_t i = 0; i < array.size(); ++i) {
        const bool changed = actual.size() == output && i == element;
        array.SetDouble(i, checker.expected.GetDouble(i) + (changed ? change : 0));
      }
      actual.push_back(std::move(array));
    }
    return CheckOutputs(actual, reference_.checkers);
  }
  // Returns the first element whose bound is above 1e-4 (at the edge of a step) if `at_edge` is
  // true, else the first other element. Fails the test if there is no such element.
  int64_t FirstElement(size_t output, bool at_edge) const {
    const Array& bounds = reference_.checkers[output].bounds;
    for (int64_t i = 0; i < bounds.size(); ++i) {
      if ((bounds.GetDouble(i) > 1e-4) == at_edge) return i;
    }
    ADD_FAILURE() << "no such element";
    return 0;
  }
  ThreadPool pool_{2};
  KernelReference reference_;
};

TEST_F(StepsTest, OneStepAtAnEdgeIsRightTwoStepsAreWrong) {
  for (const size_t output : {0u, 1u}) {
    const double step = output == 0 ? 1.0 / 512 : 1;
    const int64_t edge = FirstElement(output, true);
    const int64_t inside = FirstElement(output, false);
    EXPECT_EQ(CheckedWith(output, edge, 0).problem, "");
    EXPECT_EQ(CheckedWith(output, edge, step).problem, "");
    EXPECT_EQ(CheckedWith(output, edge, -step).problem, "");
    EXPECT_NE(CheckedWith(output, edge, 2 * step).problem, "");
    EXPECT_NE(CheckedWith(output, inside, step).problem, "");
    EXPECT_NE(CheckedWith(output, inside, -step).problem, "");
  }
}

TEST_F(StepsTest, FewElementsAreAtAnEdge) {
  const Array& bounds = reference_.checkers[1].bounds;
  int64_t at_edge = 0;
  for (int64_t i = 0; i < bounds.size(); ++i) at_edge += bounds.GetDouble(i) > 0 ? 1 : 0;
  EXPECT_GT(at_edge, 0);
  EXPECT_LT(at_edge, bounds.size() / 20);
}

}  // namespace
}  // namespace tunec
