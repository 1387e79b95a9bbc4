#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Drops every node that no graph output depends on; graph inputs stay.
/// Requires: verified. Ensures: every node but inputs is used. O(nodes).
Result<Graph> EliminateDeadNodes(const Graph& graph, const PassOptions& options);

}  // namespace tunec
