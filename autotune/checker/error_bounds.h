// Error bounds for groups with steps: round, floor, casts to integers, comparisons. A sum in
// another order may fall on the other side of a step. The result then differs, but is equally
// correct. A Compute that propagates the error of every value gives the range of correct values of
// each output element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Returns the statements that sum floats. Schedules may reorder these sums, except in mode kExact.
std::vector<StatementId> FloatSums(const Compute& compute);

/// Returns the product of the extents of the iterators that do not index the write of `sum`, a
/// statement of FloatSums. If `sum` has no domain, each element has that many terms.
double CountTerms(const Statement& sum);

/// Returns the greatest error of `sum`, a statement of FloatSums, if its terms may be added in any
/// order. The error is relative to the sum of the terms' magnitudes.
double LargestSumError(const Statement& sum);

/// Returns the name of the tensor that holds the errors of a tensor.
std::string BoundTensor(const std::string& tensor);

/// Returns the compute in float64 (PromoteToFloat64) with error tensors. Each tensor whose values
/// may differ between legal evaluations has a tensor BoundTensor with the largest difference. The
/// BoundTensor of an output with an error from steps is an output too. `sum_errors` has the error
/// of each statement of FloatSums, relative to the sum of the terms' magnitudes. Returns none if no
/// output has an error from a step, or if an expression of the bounds would be too large to
/// compile. The group is then checked as if it had no steps. An example:
///   before: y[i] = round(acc[i] * 8.0)
///   after:  (y[i], y.bound[i]) = (round(acc[i] * 8.0),
///           round(acc[i] * 8.0 + E) - round(acc[i] * 8.0 - E)),  E = 8.0 * acc.bound[i] + ...
std::optional<Compute> WithErrorBounds(const Compute& compute,
                                       const std::vector<double>& sum_errors);

/// Returns true if WithErrorBounds returns a compute: some output has an error from a step, and the
/// expressions of the bounds are not too large.
bool HasSteps(const Compute& compute);

}  // namespace tunec
