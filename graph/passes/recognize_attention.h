#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces two products with a softmax between them by one attention node. The pattern is
/// matmul(softmax(mask(scale * matmul(q, k^T))), v), as front ends write it. These variations
/// match:
/// - The scale is a factor or a divisor of the scores, of q or of k. It may also be applied below
///   transposes and reshapes.
/// - The mask is an addition or a selection of a number.
/// - A constant mask that hides exactly the scores above a diagonal becomes `causal`. This also
///   applies to masks of existing attention nodes. An added causal mask must add -inf to hidden
///   scores, or a number so low that all visible scores are proven to be far above them. Under
///   FloatRules::kFast, a number of at most -1e9 suffices.
/// - tanh(x / c) * c becomes the soft cap.
/// - Heads of k and v that are repeated for groups of query heads are read directly, without the
///   repetition.
/// These do not match: scores or attention weights with other readers, a softmax along another
/// axis, selections of different numbers, and more than two added masks. Fewer queries than
/// FusionMachine::fewest_queries do not match either, because separate products are then faster.
/// The graph must be verified and canonicalized, and its softmaxes recognised. The result has no
/// dead nodes if anything changed. O(nodes + elements of constant masks).
Result<Graph> RecognizeAttention(const Graph& graph, const PassOptions& options);

}  // namespace tunec
