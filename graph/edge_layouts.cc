#include "graph/edge_layouts.h"

#include <algorithm>

#include "graph/more_outputs.h"

namespace tunec {
namespace {

Status CheckNames(const Graph& graph, const EdgeLayouts& layouts) {
  for (const auto& [name, layout] : layouts) {
    const auto is_named = [&](ValueId input) { return graph.value(input).name == name; };
    if (std::ranges::any_of(graph.inputs(), is_named)) continue;
    if (std::ranges::find(graph.output_names(), name) == graph.output_names().end())
      return Fail(ErrorCode::kInvalidArgument,
                  "a layout is given for '{}', expected the name of an input or output", name);
  }
  return {};
}

// Adds the input in its stored shape, followed by the transpose to the graph's shape.
Result<std::vector<ValueId>> AddStoredInput(const Value& input, const AxisOrder& order,
                                            GraphBuilder& builder) {
  ValueType type{input.type.type, {}};
  for (const int64_t axis : order) type.dims.push_back(input.type.dims[axis]);
  TUNEC_ASSIGN(const ValueId stored_input, builder.AddInput(input.name, type));
  TUNEC_ASSIGN(const ValueId logical,
               builder.Add(Op::kTranspose, {stored_input}, {{"perm", Inverse(order)}}));
  return std::vector{logical};
}

}  // namespace

Result<AxisOrder> OrderOf(const EdgeLayouts& layouts, const std::string& name, size_t rank) {
  const auto found = layouts.find(name);
  if (found == layouts.end()) return AxisOrder();
  Result<AxisOrder> order = ParseAxisOrder(found->second, rank);
  if (!order)
    return Fail(order.error().code, "the layout of '{}' is {}", name, order.error().message);
  return order;
}

Result<Graph> ApplyEdgeLayouts(const Graph& graph, const EdgeLayouts& layouts) {
  if (layouts.empty()) return graph;
  TUNEC_RETURN_IF_ERROR(CheckNames(graph, layouts));
  const auto convert_input = [&](const Node& node, const std::vector<ValueId>& /*inputs*/,
                                 GraphBuilder& builder) -> Result<std::vector<ValueId>> {
    if (node.op != Op::kInput) return std::vector<ValueId>();
    const Value& input = graph.value(node.outputs[0]);
    TUNEC_ASSIGN(const AxisOrder order, OrderOf(layouts, input.name, input.type.dims.size()));
    return order.empty() ? std::vector<ValueId>() : AddStoredInput(input, order, builder);
  };
  const auto convert_output = [&](const std::string& name, ValueId value,
                                  GraphBuilder& builder) -> Result<ValueId> {
    TUNEC_ASSIGN(const AxisOrder order, OrderOf(layouts, name, builder.TypeOf(value).dims.size()));
    if (order.empty()) return value;
    return builder.Add(Op::kTranspose, {value}, {{"perm", order}});
  };
  return RebuildWithOutputs(graph, convert_input, convert_output);
}

}  // namespace tunec
