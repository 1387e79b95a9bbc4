// Partitions the computing nodes into groups. Nodes are visited in graph order; each starts as a
// group of its own and tries to take in the groups of its operands. One function judges every such
// edge and gives the reason, which is kept with the plan.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Requires: a verified graph. Ensures: every computing node that an output depends on is in
/// exactly one group; the groups never form cycles and are in an order that respects data flow.
/// O(edges log nodes), the search for cycles being bounded for each edge.
Result<FusionPlan> PlanFusion(const Graph& graph, FusionMode mode, const FusionMachine& machine);

}  // namespace tunec
