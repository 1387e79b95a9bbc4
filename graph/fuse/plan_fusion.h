// Partitions the computing nodes into groups. Nodes are visited in graph order. Each node starts as
// a separate group and tries to absorb the groups of its operands. One function decides every such
// edge; the plan stores its reason.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Plans the groups. Requires: a verified graph. Ensures: every computing node that an output
/// depends on is in exactly one group; the groups form no cycles and are in an order that respects
/// data flow. O(edges log nodes), because the search for cycles is bounded for each edge.
Result<FusionPlan> PlanFusion(const Graph& graph, FusionMode mode, const FusionMachine& machine);

}  // namespace tunec
