#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces every node whose inputs are all constants by constants. Nodes whose results are
/// larger than their operands by more than PassOptions::fold_growth_bytes are left, unless only
/// nodes of constants read them: then they are computed for these and not kept. Weights of matrix
/// products and convolutions are folded whatever their size, up to 4 GiB in all. A node is also
/// left if the graph's constants would outgrow fold_growth_factor, if a graph output is its result,
/// or if the reference refuses the node. Operands that something else reads stay, and count as
/// growth.
/// Requires: verified. Ensures: no foldable node left; the operands may be dead. O(nodes) and
/// the evaluations.
Result<Graph> FoldConstants(const Graph& graph, const PassOptions& options);

}  // namespace tunec
