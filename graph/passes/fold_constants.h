#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces every node whose inputs are all constants by constants. Nodes are unchanged if their
/// results exceed their operands by more than PassOptions::fold_growth_bytes. If only nodes of
/// constants read such results, the results are computed for these and not stored. Weights of
/// matrix products and convolutions are folded whatever their size, up to 4 GiB in total. A node is
/// also unchanged if the graph's constants would exceed fold_growth_factor, if its result is a
/// graph output, or if the reference rejects the node. Operands with other readers stay, and count
/// as growth. Requires: verified. Ensures: no foldable node left; the operands may be dead.
/// O(nodes) and the evaluations.
Result<Graph> FoldConstants(const Graph& graph, const PassOptions& options);

}  // namespace tunec
