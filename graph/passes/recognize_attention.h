#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces two products with a softmax between them by one attention node. The pattern is
/// matmul(softmax(mask(scale * matmul(q, k^T))), v), as front ends write it. These variations
/// match:
/// - The scale is a factor or a divisor of the scores, of q or of k. A scale of q or k may also be
///   below transposes and reshapes.
///
/// - The mask is added to the scores, or selects between the scores and a number.
///
/// - A constant mask that hides exactly the scores outside a band becomes `causal` and `window`. An
///   added mask adds -inf to hidden scores. A number also suffices if all visible scores are proven
///   to be far above the hidden scores. Under FloatRules::kFast, -1e9 or less suffices.
///
/// - A constant mask that is the only mask is simplified further, also the mask of an existing
///   attention node (AddWithSimplerMask).
///
/// - tanh(x / c) * c with a positive c becomes the soft cap.
///
/// - Heads of k and v that are repeated for groups of query heads are read directly, without the
///   repetition.
/// These do not match: scores or attention weights with other readers, a softmax along another
/// axis, selections of different numbers, and more than two added masks besides the mask of a band.
/// A fixed number of queries below FusionMachine::fewest_queries does not match either, because
/// separate products are then faster. The graph must be verified and canonicalized, and its
/// softmaxes recognised. The result has no dead nodes if anything changed.
Result<Graph> RecognizeAttention(const Graph& graph, const PassOptions& options);

}  // namespace tunec
