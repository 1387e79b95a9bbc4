#include "autotune/checker/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "autotune/checker/order_tolerance.h"
#include "autotune/checker/reference_compute.h"
#include "ir/rounding.h"
#include "jit/scalar_code.h"

namespace tunec {
namespace {

constexpr double kFloat32Ulp = 0x1p-23;

// Returns true if both are finite, both are NaN, or both are the same infinity.
bool SameKind(double a, double b) {
  if (std::isnan(b)) return std::isnan(a);
  if (std::isinf(b)) return a == b;
  return std::isfinite(a);
}

// Returns the largest distance by which steps may move element i from the expected value. The
// result is 0 for outputs without steps. It is 0 also if the bound is NaN, which the error analysis
// computes, for example, from infinities that cancel.
double BoundOf(const OutputChecker& checker, int64_t i) {
  if (checker.bounds.size() == 0) return 0;
  const double bound = checker.bounds.As<double>()[i];
  return std::isnan(bound) ? 0 : bound;
}

// Returns true if element i is checked. An empty `counted` selects all elements.
bool Counts(const std::vector<bool>& counted, int64_t i) {
  return counted.empty() || counted[static_cast<size_t>(i)];
}

MeasuredError MeasureIntegers(const Array& actual, const OutputChecker& checker,
                              const std::vector<bool>& counted) {
  MeasuredError error;
  for (int64_t i = 0; i < actual.size(); ++i) {
    if (!Counts(counted, i)) continue;
    const int64_t value = actual.GetInt(i);
    const int64_t expected = checker.expected.GetInt(i);
    if (value == expected) continue;
    const double difference = std::abs(static_cast<double>(value) - static_cast<double>(expected));
    if (difference <= BoundOf(checker, i)) continue;
    // The sequential result is also correct: rounding alone may flip a comparison.
    if (checker.sequential.size() > 0 && value == checker.sequential.GetInt(i)) continue;
    error.wrong_kind = error.worst = i;
    return error;
  }
  return error;
}

// Returns the expected value, or an infinity if the value overflows the type.
double RoundedKind(double expected, DataType type) {
  const double rounded = RoundTo(expected, type);
  return std::isinf(rounded) ? rounded : expected;
}

MeasuredError MeasureFloats(const Array& actual, const OutputChecker& checker,
                            const std::vector<bool>& counted) {
  MeasuredError error;
  const std::span<const double> expected = checker.expected.As<double>();
  double worst = 0;
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double value =
        actual.type() == DataType::kF32 ? actual.As<float>()[i] : actual.GetDouble(i);
    double difference = std::abs(value - expected[i]);
    if (difference <= worst || !Counts(counted, i)) continue;
    const double bound = BoundOf(checker, i);
    if (difference <= bound) continue;
    if (std::isfinite(bound)) difference -= bound;
    if (difference <= worst) continue;
    if (!std::isfinite(difference)) {
      if (SameKind(value, RoundedKind(expected[i], actual.type()))) continue;
      error.wrong_kind = i;
      return error;
    }
    worst = difference;
    error.worst = i;
  }
  error.e = worst / checker.scale;
  return error;
}

// Returns true if the accuracy mode rounds the operands of the compute's last contraction.
bool RoundsOperands(const Compute& compute, const Accuracy& accuracy) {
  if (accuracy.mode != AccuracyMode::kTf32 && accuracy.mode != AccuracyMode::kBf16) return false;
  const std::optional<StatementId> sum = LastContraction(compute);
  return sum && compute.statements[*sum].values[0].type() == DataType::kF32;
}

// Returns the tolerance of a mode that rounds operands. The tolerance is at least the error of
// operands in two bfloat16 limbs, which are more precise than the mode requires. The error of the
// sequential evaluation may be smaller by chance, if equally rounded operands cancel.
double ToleranceOfRounded(double sequential, double scale, const Compute& compute,
                          const ContractionScale& sum) {
  return std::max(sequential, kErrorOfTwoBf16Parts) + OrderTolerance(compute) +
         (sum.flushed + sum.rounded) / scale;
}

// Returns the tolerance of a group with a contraction whose operands are not rounded.
double ToleranceOfUnrounded(double sequential, const Accuracy& accuracy) {
  constexpr double kLuckOfOrder = 1.5;
  const bool free = accuracy.mode == AccuracyMode::kF32;
  return (free ? kLuckOfOrder : 1) * sequential + kFloat32Ulp;
}

std::string Describe(const Array& actual, const OutputChecker& checker,
                     const MeasuredError& error) {
  if (error.wrong_kind >= 0) {
    const int64_t i = error.wrong_kind;
    return IsFloat(actual.type()) ? fmt::format("{}[{}] is {}, expected {}", checker.name, i,
                                                actual.GetDouble(i), checker.expected.GetDouble(i))
                                  : fmt::format("{}[{}] is {}, expected {}", checker.name, i,
                                                actual.GetInt(i), checker.expected.GetInt(i));
  }
  return fmt::format("error {:.3g} of {}, expected at most {:.3g}: element {} is {}, expected {}",
                     error.e, checker.name, checker.allowed, error.worst,
                     actual.GetDouble(error.worst), checker.expected.GetDouble(error.worst));
}

}  // namespace

double FunctionError(ScalarOp op) { return kFloat32Ulp * jit::CodeOf(op).error; }

double FunctionError(const Compute& compute) {
  // The factor leaves room for operations that amplify an error.
  constexpr double kRoom = 2;
  double total = 0;
  for (const Statement& statement : compute.statements) {
    for (const Expr& value : statement.values) {
      Visit(value, [&](const Expr& node) {
        if (node.kind() == ExprKind::kApply) total += kRoom * FunctionError(node.node().op);
      });
    }
  }
  return std::min(total, 1e-5);
}

double LargestFinite(const Array& array) {
  double largest = 0;
  for (int64_t i = 0; i < array.size(); ++i) {
    const double value = std::abs(array.GetDouble(i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

MeasuredError MeasureError(const Array& actual, const OutputChecker& checker,
                           const std::vector<bool>& counted) {
  return IsFloat(actual.type()) ? MeasureFloats(actual, checker, counted)
                                : MeasureIntegers(actual, checker, counted);
}

void SetTolerances(std::vector<OutputChecker>& checkers, const Compute& compute,
                   const std::optional<ContractionScale>& contraction, const Accuracy& accuracy) {
  constexpr double kOtherGroups = 1e-6;
  for (OutputChecker& checker : checkers) {
    const DataType type = checker.sequential.type();
    if (!IsFloat(type)) continue;
    const double magnitude = contraction ? contraction->magnitude : 0;
    checker.scale = std::max(magnitude, LargestFinite(checker.expected));
    if (checker.scale == 0) checker.scale = 1;
    const double sequential = MeasureError(checker.sequential, checker).e;
    checker.allowed = contraction ? ToleranceOfUnrounded(sequential, accuracy)
                                  : std::max(2 * sequential, kOtherGroups + FunctionError(compute));
    if (contraction && RoundsOperands(compute, accuracy))
      checker.allowed = ToleranceOfRounded(sequential, checker.scale, compute, *contraction);
    if (accuracy.mode == AccuracyMode::kBound) checker.allowed = accuracy.bound;
    if (SizeOf(type) == 2) checker.allowed += RoundingOf(type);
  }
}

Verdict CheckOutputs(const std::vector<Array>& actual, const std::vector<OutputChecker>& checkers,
                     const std::vector<std::vector<bool>>& counted) {
  Verdict verdict;
  for (size_t i = 0; i < checkers.size(); ++i) {
    const MeasuredError error =
        MeasureError(actual[i], checkers[i], counted.empty() ? std::vector<bool>() : counted[i]);
    verdict.e = std::max(verdict.e, error.e);
    const bool met = error.wrong_kind < 0 && error.e <= checkers[i].allowed;
    if (!met && verdict.problem.empty()) verdict.problem = Describe(actual[i], checkers[i], error);
  }
  return verdict;
}

}  // namespace tunec
