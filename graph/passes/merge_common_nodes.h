#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Keeps the first of nodes with the same operator, attributes and inputs; of constants of up
/// to 1 MiB, the first with the same type, shape and bytes. Layouts must agree.
/// Requires: verified. Ensures: no two such nodes. O(nodes log nodes).
Result<Graph> MergeCommonNodes(const Graph& graph, const PassOptions& options);

}  // namespace tunec
