#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Drops every node on which neither a graph output nor a node without results depends. Graph
/// inputs and nodes without results stay. Requires a verified graph. In the result, at least one
/// value of every other node is read or is a graph output. O(nodes).
Result<Graph> EliminateDeadNodes(const Graph& graph, const PassOptions& options);

}  // namespace tunec
