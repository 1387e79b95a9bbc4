// Functions that fuse and lower graphs for a generic CPU.
#pragma once

#include <utility>
#include <vector>

#include "graph/fuse/plan_fusion.h"
#include "graph/lower/lower.h"

namespace tunec {

inline Result<FusionPlan> PlanFusion(const Graph& graph, FusionMode mode = FusionMode::kFused) {
  return PlanFusion(graph, mode, FusionMachine());
}

inline Result<std::vector<FusionGroup>> Fuse(const Graph& graph,
                                             FusionMode mode = FusionMode::kFused) {
  TUNEC_ASSIGN(FusionPlan plan, PlanFusion(graph, mode));
  return std::move(plan.groups);
}

inline Result<std::vector<Lowering>> Lower(const Graph& graph, const FusionGroup& group) {
  return Lower(graph, group, FusionMachine(), Transforms::kAll);
}

}  // namespace tunec
