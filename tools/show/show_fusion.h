// Functions that add tables of the decisions about fusion.
#pragma once

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Adds, for each group, the edges inside the group and the edges into and out of the group, each
/// with the reason of the decision.
void AddFusion(TableReport& report, const Graph& graph, const FusionPlan& plan);

/// Adds a row for each edge of the plan: the decision, and the benefit and cost of fusing.
void AddFusionCandidates(TableReport& report, const Graph& graph, const FusionPlan& plan);

}  // namespace tunec
