#include "graph/fuse/fusion_plan.h"

namespace tunec {

DataType StoredTypeOf(const Graph& graph, const std::map<ValueId, DataType>& stored,
                      ValueId value) {
  const auto found = stored.find(value);
  return found == stored.end() ? graph.value(value).type.type : found->second;
}

std::vector<FusionEdge> FusionPlan::EdgesWithin(size_t group) const {
  const auto id = static_cast<int32_t>(group);
  std::vector<FusionEdge> within;
  for (const FusionEdge& edge : edges)
    if (edge.from == id && edge.into == id) within.push_back(edge);
  return within;
}

std::vector<FusionEdge> FusionPlan::Borders(size_t group) const {
  const auto id = static_cast<int32_t>(group);
  std::vector<FusionEdge> borders;
  for (const FusionEdge& edge : edges)
    if ((edge.from == id) != (edge.into == id)) borders.push_back(edge);
  return borders;
}

}  // namespace tunec
