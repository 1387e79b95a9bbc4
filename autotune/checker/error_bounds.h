// Error bounds for groups with steps: round, floor, casts to integers, comparisons. There a sum in
// another order sometimes falls on the other side of a step, and the result differs, but is equally
// correct. A Compute that propagates the error of every value gives the correct values of each
// output element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Returns the statements that sum floats, whose order schedules may change.
std::vector<StatementId> FloatSums(const Compute& compute);

/// Returns the number of terms of each element of such a sum.
double TermsOf(const Statement& sum);

/// Returns the greatest error of such a sum in any order, relative to the sum of its terms'
/// magnitudes.
double LargestSumError(const Statement& sum);

/// Returns the name of the tensor that holds the errors of a tensor.
std::string BoundTensor(const std::string& tensor);

/// Returns the compute in float64 (PromoteToFloat64) with error tensors. Each tensor whose values
/// may differ between legal evaluations has a tensor BoundTensor with the largest difference. The
/// bounds of an output after steps are an output too. `sum_errors` has one entry per FloatSums,
/// relative to the sum of the terms' magnitudes. Returns none if no output comes after a step, or
/// if the bounds would be too large to compile; the group is then checked as if it had no steps.
///   before: y[i] = round(acc[i] * 8.0)
///   after:  (y[i], y.bound[i]) = (round(acc[i] * 8.0),
///           round(acc[i] * 8.0 + E) - round(acc[i] * 8.0 - E)),  E = 8.0 * acc.bound[i] + ...
std::optional<Compute> WithErrorBounds(const Compute& compute,
                                       const std::vector<double>& sum_errors);

/// Returns true if some output comes after a step.
bool HasSteps(const Compute& compute);

}  // namespace tunec
