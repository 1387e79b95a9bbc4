#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces two products with a softmax between them by one attention node, for the forms of front
/// ends: matmul(softmax(mask(scale * matmul(q, k^T))), v).
///
/// The scale may be a factor or divisor of the scores, of q or of k, also below transposes and
/// reshapes. The mask may be an addition or a selection of a number. A constant mask that hides
/// exactly the elements above a diagonal becomes `causal`, also in existing attention nodes. An
/// added mask must be -inf there, or so low that all scores are proven to be far above it; under
/// FloatRules::kFast, at most -1e9. tanh(x / c) * c becomes the soft cap. Heads of k and v that are
/// repeated for groups of query heads are read directly instead of copied.
///
/// Unchanged: scores or weights with other readers, a softmax along another axis, selections of
/// different numbers, more than two added masks, and fewer queries than
/// FusionMachine::fewest_queries (separate products are faster). Requires: verified, canonicalized,
/// softmax recognised. Ensures: dead nodes removed. O(nodes) and the elements of constant masks.
Result<Graph> RecognizeAttention(const Graph& graph, const PassOptions& options);

}  // namespace tunec
