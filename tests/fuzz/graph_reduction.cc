#include "tests/fuzz/graph_reduction.h"

#include "support/random.h"
#include "tests/fuzz/random_values.h"

namespace tunec::fuzz {

void Reduction::CutOut(NodeId node, Cut cut, size_t operand) {
  node_ = node;
  cut_ = cut;
  operand_ = operand;
}

std::optional<Graph> Reduction::Build() const {
  GraphBuilder builder(graph_.name());
  std::vector<ValueId> made(graph_.values().size());
  const std::vector<bool> needed = Needed();
  for (int32_t n = 0; n < std::ssize(graph_.nodes()); ++n) {
    const Node& node = graph_.nodes()[n];
    if (!needed[n]) continue;
    if (NodeId{n} == node_) {
      const auto value = Replacement(builder, node, made);
      if (!value) return {};
      made[node.outputs[0].index] = *value;
    } else if (!Copy(builder, node, made)) {
      return {};
    }
  }
  for (const ValueId output : outputs_) {
    const ValueId value = made[output.index];
    if (!value.valid()) return {};
    builder.AddOutput(value);
  }
  return std::move(builder).Build();
}

std::vector<bool> Reduction::Needed() const {
  std::vector<bool> needed(graph_.nodes().size(), false);
  for (const ValueId output : outputs_) needed[graph_.value(output).producer.index] = true;
  for (auto n = static_cast<int32_t>(needed.size()) - 1; n >= 0; --n) {
    if (!needed[n]) continue;
    const Node& node = graph_.nodes()[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool read = NodeId{n} != node_ || (cut_ == Cut::kOperand && i == operand_);
      if (read && node.inputs[i].valid())
        needed[graph_.value(node.inputs[i]).producer.index] = true;
    }
  }
  return needed;
}

bool Reduction::Copy(GraphBuilder& builder, const Node& node, std::vector<ValueId>& made) const {
  if (node.op == Op::kInput) {
    const Value& value = graph_.value(node.outputs[0]);
    const auto input = builder.AddInput(value.name, value.type);
    if (!input) return false;
    made[node.outputs[0].index] = *input;
    return true;
  }
  if (node.op == Op::kConstant) {
    made[node.outputs[0].index] = builder.AddConstant(node.name, node.constant);
    return true;
  }
  std::vector<ValueId> inputs;
  for (const ValueId input : node.inputs)
    inputs.push_back(input.valid() ? made[input.index] : ValueId{});
  const auto copies = builder.CopyNode(graph_, node, inputs);
  if (!copies) return false;
  for (size_t i = 0; i < copies->size(); ++i) made[node.outputs[i].index] = (*copies)[i];
  return true;
}

std::optional<ValueId> Reduction::Replacement(GraphBuilder& builder, const Node& node,
                                              const std::vector<ValueId>& made) const {
  const Value& value = graph_.value(node.outputs[0]);
  if (cut_ == Cut::kOperand) {
    if (operand_ >= node.inputs.size() || !node.inputs[operand_].valid()) return {};
    const ValueId operand = node.inputs[operand_];
    if (graph_.value(operand).type != value.type) return {};
    return made[operand.index];
  }
  if (cut_ == Cut::kInput) {
    const auto input = builder.AddInput(value.name, value.type);
    return input ? std::optional(*input) : std::nullopt;
  }
  Random random(StreamSeed(1, value.name));
  return builder.AddConstant(
      value.name, RandomElements(value.type.type, value.type.Shape(), Values::kOrdinary, random));
}

}  // namespace tunec::fuzz
