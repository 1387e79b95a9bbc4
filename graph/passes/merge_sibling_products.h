#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Merges products of one operand with constant matrices (the queries, keys and values of
/// attention) into one product with the concatenated matrices. Constants added to and multiplied
/// with their columns are joined as well. Each result is a slice of the product, which its readers
/// access in place. Products followed by elementwise operators are unchanged, because these would
/// no longer be fused. Leaves dead nodes. Requires: constants are folded. Ensures: the same sums in
/// the same order; the same bytes of weights. O(nodes + bytes of weights).
Result<Graph> MergeSiblingProducts(const Graph& graph, const PassOptions& options);

}  // namespace tunec
