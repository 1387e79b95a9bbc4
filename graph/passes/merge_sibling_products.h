#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Merges products of one operand with constant matrices, such as the queries, keys and values of
/// attention, into one product with the matrices side by side. Constants that are added to and
/// multiplied with the columns are joined as well. Each result becomes a slice of the merged
/// product, and readers can read the slice in place. A product stays separate if its result is a
/// graph output, or if elementwise operators read the result. A kernel could no longer compute such
/// operators together with the product.
/// Leaves dead nodes. Requires folded constants. The sums and the order of their terms do not
/// change, nor does the size of the weights. O(nodes + bytes of weights).
Result<Graph> MergeSiblingProducts(const Graph& graph, const PassOptions& options);

}  // namespace tunec
