// What fusing along one edge is worth, by what the two groups do.
#pragma once

#include "graph/cost/fuse_cost.h"
#include "graph/fuse/fuse_rules.h"

namespace tunec {

/// Of the edge itself: bytes, the launch, work that is repeated or confined to fewer tasks. The
/// pressure on registers depends on the groups' members and is the planner's to add.
FusionCost CostOfEdge(const Graph& graph, const FusionQuestion& question,
                      const FusionMachine& machine);

}  // namespace tunec
