#include "graph/passes/eliminate_dead_nodes.h"

#include <algorithm>

namespace tunec {

Result<Graph> EliminateDeadNodes(const Graph& graph, const PassOptions&) {
  std::vector<bool> live(graph.nodes().size());
  for (const ValueId output : graph.outputs()) live[graph.value(output).producer.index] = true;
  for (size_t n = live.size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    live[n] = live[n] || node.op == Op::kInput || node.outputs.empty();
    if (!live[n]) continue;
    for (const ValueId input : node.inputs)
      if (input.valid()) live[graph.value(input).producer.index] = true;
  }
  if (std::ranges::find(live, false) == live.end()) return graph;
  return Rebuild(graph,
                 [&](const Node& node, const std::vector<ValueId>&,
                     GraphBuilder&) -> Result<std::vector<ValueId>> {
                   const auto n = static_cast<size_t>(&node - graph.nodes().data());
                   // Invalid ids stand for a dead node's values, which no live node reads.
                   return std::vector<ValueId>(live[n] ? 0 : node.outputs.size());
                 });
}

}  // namespace tunec
