#include "graph/graph.h"
#include "support/check.h"

namespace tunec {
namespace {

/// Copies inputs, constants and computing nodes as they are, names included where still free.
Result<std::vector<ValueId>> Copy(const Graph& graph, const Node& node,
                                  const std::vector<ValueId>& inputs, GraphBuilder& builder) {
  std::vector<ValueId> outputs;
  if (node.op == Op::kInput) {
    const Value& value = graph.value(node.outputs[0]);
    TUNEC_ASSIGN(const ValueId copy, builder.AddInput(value.name, value.type));
    outputs.push_back(copy);
  } else if (node.op == Op::kConstant) {
    const std::string init = node.Has("init") ? node.String("init") : "";
    outputs.push_back(builder.AddWeight(node.name, node.constant, node.weight_name, init));
  } else {
    TUNEC_ASSIGN(outputs, builder.AddControl(node.op, inputs, node.bodies, node.attributes,
                                             node.name, node.where));
  }
  TUNEC_CHECK(outputs.size() == node.outputs.size(), "node {} copied with {} outputs, had {}",
              node.name, outputs.size(), node.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value& value = graph.value(node.outputs[i]);
    if (!value.layout.IsRowMajor()) builder.SetLayout(outputs[i], value.layout);
    builder.RenameValue(outputs[i], value.name);
  }
  return outputs;
}

}  // namespace

Result<Graph> Rebuild(const Graph& graph, const NodeReplacement& replace) {
  GraphBuilder builder(graph.name());
  std::vector<ValueId> new_value(graph.values().size());
  for (const Node& node : graph.nodes()) {
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs)
      inputs.push_back(input.valid() ? new_value[input.index] : ValueId{});
    TUNEC_ASSIGN(std::vector<ValueId> outputs, replace(node, inputs, builder));
    // An empty answer means "copy"; it is the only answer for a node without outputs.
    if (outputs.empty()) {
      TUNEC_ASSIGN(outputs, Copy(graph, node, inputs, builder));
    }
    TUNEC_CHECK(outputs.size() == node.outputs.size(), "node {} replaced by {} values, wanted {}",
                node.name, outputs.size(), node.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) new_value[node.outputs[i].index] = outputs[i];
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    builder.AddOutput(new_value[graph.outputs()[i].index], graph.output_names()[i]);
  return std::move(builder).Build();
}

}  // namespace tunec
