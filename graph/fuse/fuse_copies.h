// Recomputation of small producers that have several readers.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Recomputes small groups in their readers. A small group has at most 8 nodes, only elementwise
/// and data-moving ones, and one result with at most 4 readers. The group is merged into every
/// reader of the result, if storing the result costs more than recomputing it. Ensures: the order
/// still respects data flow, because the readers already came after the group's operands. O(groups
/// x their readers).
void RecomputeInReaders(const Graph& graph, FusionPlan& plan);

}  // namespace tunec
