#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Folds what constants do to the operands and results of matrix products into their weights and
/// biases, exactly but for rounding (graph/rules/folds.rules):
///     matmul(x * s + t, w)      becomes   matmul(x, s * w) + t w
///     (matmul(x, w) + b) * s    becomes   matmul(x, w * s) + b * s
///     matmul(layer_norm(x, g, b), w)      the same with g and b
///     layer_norm(matmul(x, w) + c, g)     rms_norm(matmul(x, w - mean(w)) + c - mean(c), g)
/// The variance of a layer normalisation depends on its input and is never folded. Weights that
/// something else reads are left.
/// Requires: verified, batch normalisations folded. Ensures: no such rule fires. O(nodes) a sweep
/// and the weights that change.
Result<Graph> FoldLinear(const Graph& graph, const PassOptions& options);

}  // namespace tunec
