#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Drops every node that no graph output depends on; graph inputs and nodes without results stay.
/// Requires: verified. Ensures: the results of every node but inputs are used. O(nodes).
Result<Graph> EliminateDeadNodes(const Graph& graph, const PassOptions& options);

}  // namespace tunec
