#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces nodes whose inputs are all constants by constants. A node is not folded if its results
/// are larger than its operands by more than PassOptions::fold_growth_bytes. Larger results, up to
/// 64 MiB, are computed if only other foldable nodes read them; then they are dropped. Weights of
/// matrix products and convolutions are folded whatever their size, up to 4 GiB in all. Other nodes
/// that are not folded: all constants together would grow too much (PassOptions); a result is a
/// graph output or has a dynamic shape; the reference execution rejects the node; control and
/// memory operators. Operands with other readers stay, so they do not reduce the
/// total growth.
/// Requires a verified graph. In the result, former operands may be dead. O(nodes) plus the
/// evaluations.
Result<Graph> FoldConstants(const Graph& graph, const PassOptions& options);

}  // namespace tunec
