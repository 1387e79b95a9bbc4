#include "graph/passes/choose_layouts.h"

#include "graph/passes/copy_node.h"

namespace tunec {
namespace {

// Reads and writes neighbouring positions of all channels.
bool IsSpatial(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::kConv:
    case Op::kConvTranspose:
    case Op::kMaxPool:
    case Op::kAveragePool:
    case Op::kLrn:
      return graph.value(node.inputs[0]).type.dims.size() == 4;
    default:
      return false;
  }
}

// Makes a value of the same order as its operands'.
bool PassesOrder(const Node& node) {
  switch (node.op) {
    case Op::kConcat:
    case Op::kPad:
    case Op::kResize:
    case Op::kSlice:
      return true;
    default:
      return PatternOf(node.op) == OpPattern::kElementwise;
  }
}

bool IsCandidate(const Graph& graph, ValueId value) {
  const ValueType& type = graph.value(value).type;
  if (type.dims.size() != 4 || !type.IsFixed() || graph.IsOutput(value)) return false;
  const Node& producer = graph.producer(value);
  if (producer.op == Op::kInput || producer.op == Op::kConstant) return false;
  const std::vector<int64_t> shape = type.Shape();
  return shape[1] > 1 && shape[2] * shape[3] > 1;
}

Layout ChannelsLast(const std::vector<int64_t>& shape) {
  Layout layout;
  layout.shape = {shape[0], shape[2], shape[3], shape[1]};
  for (const VarId dimension : {0, 2, 3, 1}) layout.map.push_back(IndexExpr::Var(dimension));
  return layout;
}

std::vector<bool> ChannelsLastValues(const Graph& graph) {
  std::vector<bool> chosen(graph.values().size());
  for (const Node& node : graph.nodes()) {
    bool carries = IsSpatial(graph, node);
    if (!carries && PassesOrder(node))
      for (const ValueId input : node.inputs) carries |= input.valid() && chosen[input.index];
    for (const ValueId output : node.outputs)
      if (carries && IsCandidate(graph, output)) chosen[output.index] = true;
  }
  // Backwards: what only elementwise operators stand between and a convolution.
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    bool wanted = IsSpatial(graph, node);
    if (PassesOrder(node))
      for (const ValueId output : node.outputs) wanted |= chosen[output.index];
    if (!wanted) continue;
    for (const ValueId input : node.inputs)
      if (input.valid() && IsCandidate(graph, input) && PassesOrder(graph.producer(input)))
        chosen[input.index] = true;
  }
  return chosen;
}

}  // namespace

Result<Graph> ChooseLayouts(const Graph& graph, const PassOptions&) {
  const std::vector<bool> chosen = ChannelsLastValues(graph);
  return Rebuild(
      graph,
      [&](const Node& node, const std::vector<ValueId>& inputs,
          GraphBuilder& builder) -> Result<std::vector<ValueId>> {
        bool any = false;
        for (const ValueId output : node.outputs) any |= chosen[output.index];
        if (!any) return std::vector<ValueId>{};
        TUNEC_ASSIGN(const std::vector<ValueId> outputs, CopyNode(graph, node, inputs, builder));
        for (size_t i = 0; i < outputs.size(); ++i)
          if (chosen[node.outputs[i].index])
            builder.SetLayout(outputs[i], ChannelsLast(builder.TypeOf(outputs[i]).Shape()));
        return outputs;
      });
}

}  // namespace tunec
