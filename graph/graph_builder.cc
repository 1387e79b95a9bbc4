#include "graph/graph.h"
#include "graph/ops/infer.h"
#include "graph/ops/op_table.h"
#include "support/check.h"

namespace tunec {
namespace {

ValueType TypeOf(const Array& array) {
  return {array.type(), std::vector<Dim>(array.shape().begin(), array.shape().end())};
}

/// Adds the location to an inference error without location if the file is known. Adds the node's
/// name if the line is unknown.
Error Locate(Error error, const std::string& node_name, const SourceLocation& where) {
  if (where.line == 0) error.message = fmt::format("node {}: {}", node_name, error.message);
  if (!where.file.empty() && !error.where) error.where = where;
  return error;
}

}  // namespace

GraphBuilder::GraphBuilder(std::string graph_name) { data().name = std::move(graph_name); }

Result<ValueId> GraphBuilder::AddInput(std::string name, ValueType type) {
  if (name.empty()) return Fail(ErrorCode::kInvalidArgument, "an input has no name");
  if (value_names_.Contains(name))
    return Fail(ErrorCode::kInvalidArgument, "input name {} is already used", name);
  for (const Dim& dim : type.dims)
    if (Decide({SizeCondition::Kind::kAtMost, 0, dim}, {}) == Decision::kFalse)
      return Fail(ErrorCode::kInvalidArgument,
                  "input {} has a dimension of {}, expected at least 0", name, DimText(dim));
  if (!IsPossible(type))
    return Fail(ErrorCode::kInvalidArgument, "input {} has more than 2^48 elements", name);
  Node node{.op = Op::kInput, .name = name};
  const ValueId value = Append(std::move(node), {std::move(type)})[0];
  data().inputs.push_back(value);
  return value;
}

ValueId GraphBuilder::AddConstant(const std::string& name, Array array, std::string weight_name) {
  Node node{.op = Op::kConstant, .name = name.empty() ? "constant" : name};
  const ValueType type = tunec::TypeOf(array);
  node.constant = std::move(array);
  node.weight_name = std::move(weight_name);
  return Append(std::move(node), {type})[0];
}

ValueId GraphBuilder::AddWeight(const std::string& name, Array array, std::string weight_name,
                                std::string init) {
  const ValueId value = AddConstant(name, std::move(array), std::move(weight_name));
  if (!init.empty()) data().nodes.back().attributes["init"] = std::move(init);
  return value;
}

Result<std::vector<ValueId>> GraphBuilder::AddNode(Op op, std::vector<ValueId> inputs,
                                                   Attributes attributes, std::string name,
                                                   SourceLocation where) {
  return AddControl(op, std::move(inputs), {}, std::move(attributes), std::move(name),
                    std::move(where));
}

Result<std::vector<ValueId>> GraphBuilder::AddControl(
    Op op, std::vector<ValueId> inputs, std::vector<std::shared_ptr<const Graph>> bodies,
    Attributes attributes, std::string name, SourceLocation where) {
  if (name.empty()) name = Name(op);
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  std::vector<const ValueType*> operands;
  for (const ValueId input : inputs) {
    TUNEC_CHECK(input.index < static_cast<int32_t>(data().values.size()),
                "node {}: value {} is of another graph", name, input.index);
    operands.push_back(input.valid() ? &graph_.value(input).type : nullptr);
  }
  auto types = Infer(op, operands, attributes, bodies);
  if (!types) return std::unexpected(Locate(std::move(types).error(), name, where));
  Node node{.op = op,
            .name = name,
            .inputs = std::move(inputs),
            .attributes = std::move(attributes),
            .bodies = std::move(bodies),
            .where = std::move(where)};
  return Append(std::move(node), std::move(*types));
}

Result<ValueId> GraphBuilder::Add(Op op, std::vector<ValueId> inputs, Attributes attributes,
                                  std::string name, SourceLocation where) {
  TUNEC_ASSIGN(
      const std::vector<ValueId> outputs,
      AddNode(op, std::move(inputs), std::move(attributes), std::move(name), std::move(where)));
  TUNEC_CHECK(outputs.size() == 1, "{} has {} outputs", Name(op), outputs.size());
  return outputs[0];
}

std::vector<ValueId> GraphBuilder::Append(Node node, std::vector<ValueType> types) {
  std::vector<Value> values;
  for (size_t i = 0; i < types.size(); ++i)
    // The only output of a node is named after the node; several outputs are numbered.
    values.push_back({.name = types.size() == 1 ? node.name : fmt::format("{}_{}", node.name, i),
                      .type = std::move(types[i])});
  return AppendNamed(std::move(node), std::move(values));
}

std::vector<ValueId> GraphBuilder::AppendNamed(Node node, std::vector<Value> values) {
  const NodeId id{static_cast<int32_t>(data().nodes.size())};
  node.outputs.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    node.outputs.push_back({static_cast<int32_t>(data().values.size())});
    values[i].name = value_names_.Make(values[i].name);
    values[i].producer = id;
    values[i].output = static_cast<int>(i);
    data().values.push_back(std::move(values[i]));
    data().is_output.push_back(false);
  }
  node.name = node_names_.Make(node.name);
  data().nodes.push_back(std::move(node));
  return data().nodes.back().outputs;
}

Result<std::vector<ValueId>> GraphBuilder::CopyNode(const Graph& from, const Node& node,
                                                    std::vector<ValueId> inputs) {
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  bool same_types = inputs.size() == node.inputs.size();
  for (size_t i = 0; i < inputs.size() && same_types; ++i)
    same_types = inputs[i].valid() == node.inputs[i].valid() &&
                 (!inputs[i].valid() || TypeOf(inputs[i]) == from.value(node.inputs[i]).type);
  std::vector<Value> values;
  for (const ValueId output : node.outputs) values.push_back(from.value(output));
  Node copy{.op = node.op,
            .name = node.name,
            .inputs = std::move(inputs),
            .attributes = node.attributes,
            .bodies = node.bodies,
            .where = node.where};
  if (!same_types) {
    std::vector<const ValueType*> operands;
    for (const ValueId input : copy.inputs)
      operands.push_back(input.valid() ? &TypeOf(input) : nullptr);
    auto types = Infer(copy.op, operands, copy.attributes, copy.bodies);
    if (!types) return std::unexpected(Locate(std::move(types).error(), node.name, node.where));
    TUNEC_CHECK(types->size() == values.size(), "node {} copied with {} outputs, had {}", node.name,
                types->size(), values.size());
    for (size_t i = 0; i < values.size(); ++i) values[i].type = std::move((*types)[i]);
  }
  return AppendNamed(std::move(copy), std::move(values));
}

void GraphBuilder::ReserveLike(const Graph& other) {
  data().nodes.reserve(other.nodes().size());
  data().values.reserve(other.values().size());
  node_names_.Reserve(other.nodes().size());
  value_names_.Reserve(other.values().size());
}

void GraphBuilder::AddOutput(ValueId value, const std::string& name) {
  data().outputs.push_back(value);
  data().is_output[value.index] = true;
  data().output_names.push_back(name.empty() ? graph_.value(value).name : name);
}

void GraphBuilder::SetLayout(ValueId value, Layout layout) {
  data().values[value.index].layout = std::move(layout);
}

void GraphBuilder::RenameValue(ValueId value, const std::string& name) {
  Value& renamed = data().values[value.index];
  if (renamed.name == name) return;
  value_names_.Remove(renamed.name);
  renamed.name = value_names_.Make(name);
  Node& node = data().nodes[renamed.producer.index];
  if (!IsLeaf(node.op)) return;
  node_names_.Remove(node.name);  // inputs and constants have the names of their values
  node.name = node_names_.Make(renamed.name);
}

Graph GraphBuilder::Build() && { return std::move(graph_); }

}  // namespace tunec
