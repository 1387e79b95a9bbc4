// A function that computes the cost of fusing along one edge from the work of the two groups.
#pragma once

#include "graph/cost/fuse_cost.h"
#include "graph/fuse/fuse_rules.h"

namespace tunec {

/// Returns the cost of the edge: bytes, the launch, and work that is repeated or confined to fewer
/// tasks. The register pressure, which depends on the members of the groups, is not included.
FusionCost CostOfEdge(const Graph& graph, const FusionQuestion& question,
                      const FusionMachine& machine);

}  // namespace tunec
