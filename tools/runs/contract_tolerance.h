// The tolerance of a model's outputs under an accuracy mode that rounds operands.
//
// Each kernel alone meets the accuracy mode. The error of a chain of kernels depends on the model:
// some models shrink errors, others carry each error to every output. So the reference, which has
// no kernels, executes the model with rounded operands. The resulting error is the error that the
// accuracy mode explains.
#pragma once

#include <span>
#include <vector>

#include "tools/runs/verify_tolerance.h"

namespace tunec {

/// Returns whether the accuracy mode permits rounding operands of products.
bool RoundsOperands(const Accuracy& accuracy);

/// Returns ToleranceFor, except under `tf32` and `bf16`. In these modes the result is the greater
/// of ToleranceFor and this sum: kOutputTolerance plus twice the greatest error of two reference
/// executions. Both round the operands of products, each to a different grid. A compiled model
/// rounds at other places (folded weights, order of sums), which gives another sample of the same
/// error. A kernel may also have twice the error of one evaluation (autotune/checker/check.h).
/// `exact` has the reference's outputs without these roundings. The cost is two reference
/// executions in these modes, and none in others.
Result<VerifyTolerance> PropagatedTolerance(const Graph& graph, std::span<const Array> inputs,
                                            const Accuracy& accuracy, std::span<const Array> exact);

}  // namespace tunec
