#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Merges nodes with the same operator, attributes and inputs into the first of them. Constants of
/// up to 1 MiB are merged if type, shape and bytes are equal. Layouts must agree. Requires:
/// verified. Ensures: no two such nodes. O(nodes log nodes).
Result<Graph> MergeCommonNodes(const Graph& graph, const PassOptions& options);

}  // namespace tunec
