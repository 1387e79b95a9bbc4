#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Makes one attention node of two products with a softmax between them, as front ends write
/// them: matmul(softmax(mask(scale * matmul(q, k^T))), v). The scale may be a factor or a
/// divisor of the scores, of q or of k (below transposes and reshapes too); the mask an addition
/// or a selection of a number, and a constant one that hides just what is above a diagonal becomes
/// `causal` (an added one must be -inf there, or so low that all scores are proven to be far above;
/// under FloatRules::kFast, at most -1e9), of attention nodes that are there, too; tanh(x / c) *
/// c becomes the soft cap; heads of k and v that are repeated for groups of query heads are read
/// instead of copied. Left alone: scores or weights that something else reads, a softmax along
/// another axis, selections of different numbers, more than two added masks, and fewer queries than
/// FusionMachine::fewest_queries (the products are faster by themselves). Requires: verified,
/// canonicalized, softmax recognised.
/// Ensures: dead nodes removed. O(nodes) and the elements of constant masks.
Result<Graph> RecognizeAttention(const Graph& graph, const PassOptions& options);

}  // namespace tunec
