#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Removes every node that no graph output depends on; graph inputs stay. Requires: verified.
/// Ensures: every node except inputs is used. O(nodes).
Result<Graph> EliminateDeadNodes(const Graph& graph, const PassOptions& options);

}  // namespace tunec
