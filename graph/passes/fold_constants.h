#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces every node whose inputs are all constants by constants. A node is left if its results
/// are larger than its operands by more than PassOptions::fold_growth_bytes. Exceptions are nodes
/// that only nodes of constants read: their results are temporary. Weights of matrix products
/// and convolutions are folded whatever their size, up to 4 GiB in all. A node is also left if the
/// graph's constants would exceed fold_growth_factor, if its result is a graph output, or if the
/// reference rejects it. Operands with other readers stay and count as growth.
/// Requires: verified. Ensures: no foldable node left; the operands may be dead. O(nodes) and the
/// evaluations.
Result<Graph> FoldConstants(const Graph& graph, const PassOptions& options);

}  // namespace tunec
