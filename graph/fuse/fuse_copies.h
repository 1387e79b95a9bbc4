// Small producers with several readers.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Recomputes small groups in their readers. A small group has only elementwise and data-moving
/// nodes and one result. The group is merged into every reader of the result, if storing the result
/// costs more. Ensures: the order still respects data flow, because no group gets new dependences.
/// O(groups x their readers).
void RecomputeInReaders(const Graph& graph, FusionPlan& plan);

}  // namespace tunec
