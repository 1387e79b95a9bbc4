#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Folds a batch normalisation with constant parameters into the convolution that feeds it:
///     conv(x, w, b) -> bn   becomes   conv(x, w * s, (b - mean) * s + bias),
/// with s = scale / sqrt(variance + epsilon) computed in float64. The convolution may be
/// transposed, of any rank, with or without groups and bias. A convolution is left unchanged if its
/// result has other users or is a graph output, or if its weights or bias are not constants.
///
/// Any other batch normalisation with constant parameters becomes x * s + t with constants s and t.
/// If a mean is more than 8 standard deviations from 0, the normalisation becomes
/// (x - mean) * s + bias, because the rounding of x * s + t could be large. Otherwise, if the only
/// reader of a matrix x * s + t is a product with a constant matrix w, the product gets the bias
/// t @ w instead of t. A normalisation with a computed scale or variance is split if
/// possible. So the factor is not computed for each element (split_batch_norm.h).
///
/// The operator batch_norm has the semantics of inference. The importer rejects the training mode,
/// in which the statistics come from the batch. A layer normalisation's statistics always come from
/// its input: see fold_linear.h.
/// Requires a verified graph. A batch normalisation with constant parameters remains only if a
/// factor or shift is not finite, or if a parameter has a wider type than x. The result has no dead
/// node. O(nodes + elements of the weights).
Result<Graph> FoldBatchNorm(const Graph& graph, const PassOptions& options);

}  // namespace tunec
