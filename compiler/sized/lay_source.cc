#include "compiler/sized/lay_source.h"

#include <utility>

namespace tunec {

Result<SizedSource> ApplySourceLayouts(SizedSource source, const EdgeLayouts& layouts) {
  if (layouts.empty()) return source;
  TUNEC_ASSIGN(const Graph example, source.graph_at(source.example));
  TUNEC_RETURN_IF_ERROR(ApplyEdgeLayouts(example, layouts));
  for (OpenAxis& open : source.open) {
    const Value& input = example.value(example.inputs()[open.input]);
    TUNEC_ASSIGN(const AxisOrder order, OrderOf(layouts, input.name, input.type.dims.size()));
    if (!order.empty()) open.axis = static_cast<int>(Inverse(order)[open.axis]);
  }
  if (source.named) {
    TUNEC_ASSIGN(source.named, ApplyEdgeLayouts(*source.named, layouts));
  }
  source.graph_at = [graph_at = std::move(source.graph_at),
                     layouts](const Sizes& sizes) -> Result<Graph> {
    TUNEC_ASSIGN(const Graph graph, graph_at(sizes));
    return ApplyEdgeLayouts(graph, layouts);
  };
  return source;
}

}  // namespace tunec
