// A pass to recompute small groups in the groups that read the results.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Recomputes small groups in the groups that read their results. A small group has at most 8
/// nodes, all elementwise or injective, and one result with at most 4 readers. The result is not
/// an output, and no view reads it. The small group is merged into all readers if each can absorb
/// it and recomputing saves time. Ensures: the order still respects data flow, because the readers
/// already came after the group's operands. O(groups x their readers).
void RecomputeInReaders(const Graph& graph, FusionPlan& plan);

}  // namespace tunec
