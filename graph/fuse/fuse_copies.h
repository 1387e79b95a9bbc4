// Small producers with several readers.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Recomputes small groups in their readers. A group of elementwise and data-moving nodes is merged
/// into every group that reads its only result, if that costs less than a kernel that stores the
/// result. Ensures: the order still respects data flow, because no group waits for a group that it
/// did not wait for before. O(groups x their readers).
void RecomputeInReaders(const Graph& graph, FusionPlan& plan);

}  // namespace tunec
