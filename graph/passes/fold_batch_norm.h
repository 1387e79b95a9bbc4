#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Folds a batch normalisation with constant parameters into the convolution that feeds it:
///     conv(x, w, b) -> bn   becomes   conv(x, w * s, (b - mean) * s + bias),
/// where s = scale / sqrt(variance + epsilon) is computed in float64. The convolution may be
/// transposed, of any rank, with or without groups and bias. A convolution is left unchanged if its
/// result has other users or its weights are not constants.
///
/// Any other batch normalisation becomes x * s + t with constants s and t. Where a mean exceeds 8
/// standard deviations, it becomes (x - mean) * s + bias, because x * s + t would lose its digits.
/// The shift t becomes the bias t @ w if only a product with a constant matrix w reads the
/// features, under the same bound. A normalisation with computed parameters is split, so that its
/// factor is not computed for each element (split_batch_norm.h).
///
/// The operator is the one of inference. The importer rejects an operator in training mode, whose
/// statistics come from the batch. A layer normalisation's statistics always come from its input:
/// see fold_linear.h.
/// Requires: verified. Ensures: no batch normalisation with constant parameters; no dead node.
/// O(nodes) and the weights that change.
Result<Graph> FoldBatchNorm(const Graph& graph, const PassOptions& options);

}  // namespace tunec
