// Small producers with several readers.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Dissolves a group of elementwise and data-moving nodes into all groups that read its one result,
/// each of which computes it for itself then, where that costs less than a kernel that stores it.
/// Ensures: the order still respects data flow, for no group waits for another that it did not wait
/// for before. O(groups x their readers).
void RecomputeInReaders(const Graph& graph, FusionPlan& plan);

}  // namespace tunec
