#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Merges nodes with the same operator, attributes and inputs into the first of them. Merges
/// constants of up to 1 MiB with the same type, shape and bytes. Inputs, control and memory
/// operators, and nodes with results that are not row-major are not merged. A node with a graph
/// output is not merged into an earlier node. Requires a verified graph. In the result, no two
/// nodes can be merged. O(nodes + bytes of compared constants).
Result<Graph> MergeCommonNodes(const Graph& graph, const PassOptions& options);

}  // namespace tunec
