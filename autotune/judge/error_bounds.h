// What judges groups with steps: round, floor, casts to integers, comparisons. There an
// accumulation in another order lands on the other side of an edge now and then, and the result is
// another one, as right as the first. A Compute that carries the error of every value along says
// for each element of an output which values are right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Statements that add floats up in an order that schedules may change.
std::vector<StatementId> FloatSums(const Compute& compute);

/// How many terms each element of such a sum has.
double TermsOf(const Statement& sum);

/// The greatest error of such a sum relative to the sum of its terms' magnitudes, whatever the
/// order.
double LargestSumError(const Statement& sum);

/// The name of the tensor that holds the errors of another.
std::string BoundTensor(const std::string& tensor);

/// The compute in float64 (PromoteToFloat64), and beside it, for each tensor whose values may
/// differ between legal evaluations, a tensor BoundTensor of how far. Where steps are in the way of
/// an output, its bounds are an output too. `sum_errors` are of FloatSums, relative to the sum of
/// the terms' magnitudes. None: no output is behind a step, or the bounds would be too large to be
/// compiled: the group is then judged as if it had none.
///   before: y[i] = round(acc[i] * 8.0)
///   after:  (y[i], y.bound[i]) = (round(acc[i] * 8.0),
///           round(acc[i] * 8.0 + E) - round(acc[i] * 8.0 - E)),  E = 8.0 * acc.bound[i] + ...
std::optional<Compute> WithErrorBounds(const Compute& compute,
                                       const std::vector<double>& sum_errors);

/// Whether some output is behind a step.
bool HasSteps(const Compute& compute);

}  // namespace tunec
