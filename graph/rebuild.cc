#include "graph/graph.h"
#include "graph/more_outputs.h"
#include "support/check.h"

namespace tunec {
namespace {

/// Copies an input or a constant with its name. If the name is used already, the copy of a constant
/// gets a number appended to its name. Fails if the name of an input is used already.
Result<ValueId> CopyLeaf(const Graph& graph, const Node& node, GraphBuilder& builder) {
  const Value& value = graph.value(node.outputs[0]);
  ValueId copy;
  if (node.op == Op::kInput) {
    TUNEC_ASSIGN(copy, builder.AddInput(value.name, value.type));
  } else {
    const std::string init = node.Has("init") ? node.String("init") : "";
    copy = builder.AddWeight(node.name, node.constant, node.weight_name, init);
  }
  if (!value.layout.IsRowMajor()) builder.SetLayout(copy, value.layout);
  builder.RenameValue(copy, value.name);
  return copy;
}

Result<std::vector<ValueId>> Copy(const Graph& graph, const Node& node,
                                  const std::vector<ValueId>& inputs, GraphBuilder& builder) {
  if (!IsLeaf(node.op)) return builder.CopyNode(graph, node, inputs);
  TUNEC_ASSIGN(const ValueId leaf, CopyLeaf(graph, node, builder));
  return std::vector<ValueId>{leaf};
}

Result<ValueId> SameOutput(const std::string& /*name*/, ValueId value, GraphBuilder& /*builder*/) {
  return value;
}

Result<Graph> RebuildWith(const Graph& graph, const NodeReplacement& replace,
                          const OutputReplacement& replace_output,
                          const std::vector<NamedOutput>& more_outputs) {
  GraphBuilder builder(graph.name());
  builder.ReserveLike(graph);
  std::vector<ValueId> new_value(graph.values().size());
  for (const Node& node : graph.nodes()) {
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs)
      inputs.push_back(input.valid() ? new_value[input.index] : ValueId{});
    TUNEC_ASSIGN(std::vector<ValueId> outputs, replace(node, inputs, builder));
    // An empty result means "copy". A node without outputs can only be copied.
    if (outputs.empty()) {
      TUNEC_ASSIGN(outputs, Copy(graph, node, inputs, builder));
    }
    TUNEC_CHECK(outputs.size() == node.outputs.size(), "node {} replaced by {} values, expected {}",
                node.name, outputs.size(), node.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) new_value[node.outputs[i].index] = outputs[i];
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const std::string& name = graph.output_names()[i];
    TUNEC_ASSIGN(const ValueId output,
                 replace_output(name, new_value[graph.outputs()[i].index], builder));
    builder.AddOutput(output, name);
  }
  for (const NamedOutput& output : more_outputs)
    builder.AddOutput(new_value[output.value.index], output.name);
  return std::move(builder).Build();
}

}  // namespace

Result<Graph> Rebuild(const Graph& graph, const NodeReplacement& replace) {
  return RebuildWith(graph, replace, SameOutput, {});
}

Result<Graph> RebuildWithOutputs(const Graph& graph, const NodeReplacement& replace,
                                 const OutputReplacement& replace_output) {
  return RebuildWith(graph, replace, replace_output, {});
}

Result<Graph> WithMoreOutputs(const Graph& graph, const std::vector<NamedOutput>& outputs) {
  const auto copy = [](const Node&, const std::vector<ValueId>&, GraphBuilder&) {
    return Result<std::vector<ValueId>>(std::vector<ValueId>{});
  };
  return RebuildWith(graph, copy, SameOutput, outputs);
}

}  // namespace tunec
