// Why groups are groups, and why they end where they do.
#pragma once

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// For each group the edges inside it with what joined them, and the borders to other groups with
/// what kept them apart.
void AddFusion(TableReport& report, const Graph& graph, const FusionPlan& plan);

/// A row per value between two computing nodes: what was decided, and what fusing it saves.
void AddFusionCandidates(TableReport& report, const Graph& graph, const FusionPlan& plan);

}  // namespace tunec
