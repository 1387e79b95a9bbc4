// Why groups are groups, and why they end where they do.
#pragma once

#include <string>

#include "graph/graph.h"
#include "graph/group.h"

namespace tunec {

/// For each group the edges inside it with what joined them, and the borders to other groups with
/// what kept them apart.
std::string PrintFusion(const Graph& graph, const FusionPlan& plan);

/// A row per value between two computing nodes: what was decided, and what fusing it saves.
std::string PrintFusionCandidates(const Graph& graph, const FusionPlan& plan);

}  // namespace tunec
