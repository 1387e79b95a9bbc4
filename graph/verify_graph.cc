// The invariants of a Graph:
//   1. Every node's operands are values of earlier nodes or omitted. The node's outputs are the
//      values whose producer is the node, in order.
//   2. Names of values are non-empty and unique; so are names of nodes.
//   3. The inputs are exactly the outputs of the nodes with operator input, in order. Input and
//      constant nodes have one output and no operands.
//   4. The array of a constant has the type and the shape of the constant's value.
//   5. Every other node's operands, attributes and nested graphs satisfy the operator table. The
//      attributes are complete, and the output types are the inferred types.
//   6. Every output is a value of the graph and has a name. Output names are non-empty and unique.
//   7. A value whose layout is not row-major has a fixed shape. Its layout has one integer
//      expression per storage dimension. The expressions use only the value's dimensions and stay
//      within the storage.
//   8. Nested graphs are valid themselves.
#include <algorithm>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/ops/attributes.h"
#include "graph/ops/op_table.h"

namespace tunec {
namespace {

template <class... Args>
std::unexpected<Error> Broken(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kInternal, format, std::forward<Args>(args)...);
}

Status VerifyEdges(const Graph& graph, size_t i, size_t& values_seen) {
  const Node& node = graph.nodes()[i];
  for (const ValueId input : node.inputs)
    if (input.valid() && input.index >= static_cast<int32_t>(values_seen))
      return Broken("node {} reads value {}, which no earlier node produces", node.name,
                    input.index);
  for (size_t o = 0; o < node.outputs.size(); ++o) {
    if (node.outputs[o].index != static_cast<int32_t>(values_seen) ||
        values_seen >= graph.values().size())
      return Broken("node {} has output {}, expected value {}", node.name, node.outputs[o].index,
                    values_seen);
    const Value& value = graph.values()[values_seen++];
    if (value.producer.index != static_cast<int32_t>(i) || value.output != static_cast<int>(o))
      return Broken("value {} names node {} as its producer, expected node {}", value.name,
                    value.producer.index, i);
  }
  return {};
}

Status VerifyUnique(std::string_view what, std::vector<std::string_view> names) {
  std::ranges::sort(names);  // faster than a set of this many names
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].empty() || (i > 0 && names[i] == names[i - 1]))
      return Broken("{} name \"{}\" is empty or taken", what, names[i]);
  return {};
}

Status VerifyNames(const Graph& graph) {
  std::vector<std::string_view> values, nodes;
  values.reserve(graph.values().size());
  nodes.reserve(graph.nodes().size());
  for (const Value& value : graph.values()) values.push_back(value.name);
  for (const Node& node : graph.nodes()) nodes.push_back(node.name);
  TUNEC_RETURN_IF_ERROR(VerifyUnique("value", std::move(values)));
  TUNEC_RETURN_IF_ERROR(VerifyUnique("node", std::move(nodes)));
  if (graph.output_names().size() != graph.outputs().size())
    return Broken("graph has {} outputs and {} names for them", graph.outputs().size(),
                  graph.output_names().size());
  return VerifyUnique("output", {graph.output_names().begin(), graph.output_names().end()});
}

Status VerifyInputs(const Graph& graph) {
  std::vector<ValueId> found;
  for (const Node& node : graph.nodes())
    if (node.op == Op::kInput) found.insert(found.end(), node.outputs.begin(), node.outputs.end());
  if (found != graph.inputs())
    return Broken("graph lists {} inputs, its nodes are {}", graph.inputs().size(), found.size());
  for (const ValueId output : graph.outputs())
    if (!output.valid() || output.index >= static_cast<int32_t>(graph.values().size()))
      return Broken("graph has output {}, which is not a value", output.index);
  return {};
}

Status VerifyData(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || !node.inputs.empty())
    return Broken("node {} has {} outputs and {} operands, expected 1 and 0", node.name,
                  node.outputs.size(), node.inputs.size());
  if (node.op == Op::kInput) return {};
  const ValueType& type = graph.value(node.outputs[0]).type;
  const auto& shape = node.constant.shape();
  if (node.constant.type() != type.type ||
      std::vector<Dim>(shape.begin(), shape.end()) != type.dims)
    return Broken("constant {} is {} {}, its array is {} [{}]", node.name, Name(type.type),
                  ShapeText(type.dims), Name(node.constant.type()), fmt::join(shape, ", "));
  return {};
}

Status VerifyOperation(const Graph& graph, const Node& node) {
  std::vector<const ValueType*> operands;
  for (const ValueId input : node.inputs)
    operands.push_back(input.valid() ? &graph.value(input).type : nullptr);
  Attributes attributes = node.attributes;
  const auto types = Infer(node.op, operands, attributes, node.bodies);
  if (!types) return Broken("node {}: {}", node.name, types.error().message);
  if (!HaveSameAttributes(attributes, node.attributes))
    return Broken("node {} has incomplete attributes", node.name);
  if (types->size() != node.outputs.size())
    return Broken("node {} has {} outputs, expected {}", node.name, node.outputs.size(),
                  types->size());
  for (size_t i = 0; i < types->size(); ++i) {
    const Value& value = graph.value(node.outputs[i]);
    if (value.type != (*types)[i])
      return Broken("value {} is {} {}, inferred is {} {}", value.name, Name(value.type.type),
                    ShapeText(value.type.dims), Name((*types)[i].type),
                    ShapeText((*types)[i].dims));
  }
  for (const auto& body : node.bodies) TUNEC_RETURN_IF_ERROR(Verify(*body));
  return {};
}

Status VerifyLayout(const Value& value) {
  const Layout& layout = value.layout;
  if (layout.IsRowMajor()) return {};
  const size_t rank = value.type.dims.size();
  if (!value.type.IsFixed() || layout.map.size() != layout.shape.size())
    return Broken("value {} has a layout of {} expressions for {} storage dimensions", value.name,
                  layout.map.size(), layout.shape.size());
  const std::vector<int64_t> shape = value.type.Shape();
  const auto range = [&](VarId v) { return Interval{0, shape[v.index()] - 1}; };
  for (size_t d = 0; d < layout.map.size(); ++d) {
    std::vector<VarId> variables;
    layout.map[d].CollectVars(variables);
    for (const VarId v : variables)
      if (v.number() < 0 || v.index() >= rank)
        return Broken("value {} has a layout over dimension {}", value.name, v);
    if (layout.map[d].UsesLoaded()) return Broken("value {} has a layout that reads", value.name);
    const Interval bounds = BoundsOf(layout.map[d], range);
    const bool empty = ElementCount(shape) == 0;
    if (!empty && (bounds.lo < 0 || bounds.hi >= layout.shape[d]))
      return Broken("value {} has storage index {} to {} in dimension {}, expected 0 to {}",
                    value.name, bounds.lo, bounds.hi, d, layout.shape[d] - 1);
  }
  return {};
}

}  // namespace

Status Verify(const Graph& graph) {
  size_t values_seen = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i)
    TUNEC_RETURN_IF_ERROR(VerifyEdges(graph, i, values_seen));
  if (values_seen != graph.values().size())
    return Broken("graph has {} values, its nodes produce {}", graph.values().size(), values_seen);
  TUNEC_RETURN_IF_ERROR(VerifyNames(graph));
  TUNEC_RETURN_IF_ERROR(VerifyInputs(graph));
  for (const Node& node : graph.nodes()) {
    const bool data = IsLeaf(node.op);
    TUNEC_RETURN_IF_ERROR(data ? VerifyData(graph, node) : VerifyOperation(graph, node));
    for (const ValueId output : node.outputs)
      TUNEC_RETURN_IF_ERROR(VerifyLayout(graph.value(output)));
  }
  return {};
}

}  // namespace tunec
