#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Folds constants at the operands and results of matrix products into the products' weights and
/// biases. The graph's results change only by rounding. graph/rules/folds.rules has the rules.
///
///     matmul(x * s, w) becomes matmul(x, s * w)
///     (matmul(x, w) + b) * s becomes matmul(x, w * s) + b * s
///     matmul(layer_norm(x, g, b), w) becomes matmul(norm(x), g * w) + b @ w, if |b| <= 8 |g|
///     layer_norm(matmul(x, w) + c, g) becomes rms_norm(matmul(x, w - mean(w)) + c - mean(c), g)
///
/// The variance of a layer normalisation depends on its input and is never folded. Weights with
/// other readers do not change. Any other constant shift of an operand stays: the product of the
/// shift with the weights may cancel the rest of the result. PassOptions::on_unchanged is called
/// for most of these shifts. Requires a verified graph. No rule of folds.rules fires in the result.
/// O(nodes) per sweep, plus the elements of the changed weights.
Result<Graph> FoldLinear(const Graph& graph, const PassOptions& options);

}  // namespace tunec
