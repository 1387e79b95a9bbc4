#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces two products with a softmax between them by one attention node. The pattern is
/// matmul(softmax(mask(scale * matmul(q, k^T))), v), as front ends write it. These variations
/// match:
/// - The scale is a factor or a divisor of the scores, of q or of k. It may also be applied below
///   transposes and reshapes.
/// - The mask is an addition or a selection of a number.
/// - A constant mask that hides exactly the scores above a diagonal becomes `causal`, in existing
///   attention nodes too. An added causal mask must be -inf there, or so low that all scores are
///   proven to be far above. Under FloatRules::kFast at most -1e9 suffices.
/// - tanh(x / c) * c becomes the soft cap.
/// - Heads of k and v that are repeated for groups of query heads are read instead of copied.
/// The pass leaves scores or weights with other readers, a softmax along another axis, selections
/// of different numbers, and more than two added masks. It also leaves fewer queries than
/// FusionMachine::fewest_queries, for which separate products are faster.
/// Requires: verified, canonicalized, softmax recognised. Ensures: dead nodes removed. O(nodes) and
/// the elements of constant masks.
Result<Graph> RecognizeAttention(const Graph& graph, const PassOptions& options);

}  // namespace tunec
