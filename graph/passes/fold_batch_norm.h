#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Folds a batch normalisation with constant parameters into the convolution (or transposed
/// convolution, of any rank, groups or none, bias or none) that feeds it:
///     conv(x, w, b) -> bn   becomes   conv(x, w * s, (b - mean) * s + bias),
/// s = scale / sqrt(variance + epsilon), computed in float64. A convolution whose result has
/// other users, or whose weights are no constants, is left. Any other batch normalisation
/// becomes x * s + t with constants s and t; it becomes (x - mean) * s + bias where a mean exceeds
/// 8 standard deviations, for x * s + t would lose its digits. The shift t of features that only a
/// product with a constant matrix w reads becomes the bias t @ w, under the same bound. A
/// normalisation with computed parameters is split, so that they are not computed for each element
/// (split_batch_norm.h).
/// The operator is that of inference: one in training mode, whose statistics come from the batch,
/// is refused when a model is read. A layer normalisation's statistics always come from its input:
/// see fold_linear.h.
/// Requires: verified. Ensures: no batch normalisation with constant parameters; no dead node.
/// O(nodes) and the weights that change.
Result<Graph> FoldBatchNorm(const Graph& graph, const PassOptions& options);

}  // namespace tunec
