// The grouping of the computing nodes. Nodes are visited in graph order. Each node starts as a
// separate group, which can absorb the groups of its operands. The plan stores the reason for each
// computed operand.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Plans the groups. Requires: a verified graph. Ensures: every computing node that an output
/// depends on is in a group, or in view_nodes if it needs no kernel. A node is in several groups
/// only if each of them recomputes it. The groups form no cycles and are in an order that respects
/// data flow. Errors: kUnsupported if a dimension is not fixed. O(edges log nodes), because the
/// search for cycles is bounded for each edge.
Result<FusionPlan> PlanFusion(const Graph& graph, FusionMode mode, const FusionMachine& machine);

}  // namespace tunec
