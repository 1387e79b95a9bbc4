// Functions that add tables of the reasons for fusing nodes into groups or for not fusing them.
#pragma once

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Adds, for each group, the edges inside it with the reason for fusing, and the borders to other
/// groups with the reason against fusing.
void AddFusion(TableReport& report, const Graph& graph, const FusionPlan& plan);

/// Adds a row for each edge between two computing nodes: the decision, and the cost that fusing
/// saves or would save.
void AddFusionCandidates(TableReport& report, const Graph& graph, const FusionPlan& plan);

}  // namespace tunec
