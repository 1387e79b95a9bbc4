#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Folds a batch normalisation with constant parameters into the convolution before it. The
/// convolution may be transposed, of any rank, with or without groups and bias:
///     conv(x, w, b) -> bn   becomes   conv(x, w * s, (b - mean) * s + bias),
/// s = scale / sqrt(variance + epsilon), computed in float64. A convolution whose result has other
/// users, or whose weights are not constant, is unchanged. Any other batch normalisation becomes x
/// * s + t with constants s and t. If a mean exceeds 8 standard deviations, it becomes (x - mean) *
/// s + bias, because x * s + t would lose digits. If a product with a constant matrix w is the only
/// reader of the features, their shift t becomes the bias t @ w, under the same bound. A
/// normalisation with computed parameters is split, so that the parameters are not recomputed for
/// each element (split_batch_norm.h).
///
/// The operator is the one of inference. Training mode takes its statistics from the batch and is
/// rejected when a model is read. A layer normalisation's statistics always depend on its input:
/// see fold_linear.h.
///
/// Requires: verified. Ensures: no batch normalisation with constant parameters; no dead node.
/// O(nodes) and the weights that change.
Result<Graph> FoldBatchNorm(const Graph& graph, const PassOptions& options);

}  // namespace tunec
