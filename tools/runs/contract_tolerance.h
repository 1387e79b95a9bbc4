// The tolerance of a model's outputs under the accuracy modes `tf32` and `bf16`.
//
// Each kernel alone meets the accuracy mode. The error of a chain of kernels depends on the model:
// some models shrink errors, others carry each error to every output. So the reference, which has
// no kernels, executes the model with rounded operands. The tolerance depends on the resulting
// error.
#pragma once

#include <span>
#include <vector>

#include "tools/runs/verify_tolerance.h"

namespace tunec {

/// Returns true for the accuracy modes `tf32` and `bf16`.
bool RoundsOperands(const Accuracy& accuracy);

/// Returns ToleranceFor, except under `tf32` and `bf16`. In these modes the result is the greater
/// of ToleranceFor and this sum: kOutputTolerance plus twice the greatest error of two reference
/// executions. Both round the float32 factors of contractions, each to a different grid. A compiled
/// model rounds at other places (folded weights, order of sums), so its error is another sample of
/// such errors. `exact` has the reference's outputs without these roundings. The cost is two
/// reference executions in these modes, and none in others.
Result<VerifyTolerance> PropagatedTolerance(const Graph& graph, std::span<const Array> inputs,
                                            const Accuracy& accuracy, std::span<const Array> exact);

}  // namespace tunec
