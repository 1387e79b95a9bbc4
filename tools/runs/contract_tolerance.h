// What an accuracy contract that rounds operands lets a whole model's outputs be off by.
//
// Each kernel is within the contract by itself; what a chain of kernels makes of their errors
// depends on the model: one shrinks them, another one carries each to every output. So the model is
// executed with the roundings, by the reference, which knows no kernels: that error is what the
// contract explains.
#pragma once

#include <span>
#include <vector>

#include "tools/runs/verify_tolerance.h"

namespace tunec {

/// Whether the contract lets operands of products be rounded.
bool RoundsOperands(const Accuracy& accuracy);

/// ToleranceFor, and under `tf32` and `bf16` kOutputTolerance plus twice the greatest error of two
/// reference executions that round the operands of products, each on a grid of its own. A compiled
/// model rounds elsewhere (folded weights, an order of sums): it is another draw of the same error,
/// and a kernel, too, may have twice the error of one evaluation (autotune/judge/check.h). `exact`:
/// the reference's outputs without the roundings. Cost: two reference executions, under these
/// contracts only.
Result<VerifyTolerance> PropagatedTolerance(const Graph& graph, std::span<const Array> inputs,
                                            const Accuracy& accuracy, std::span<const Array> exact);

}  // namespace tunec
