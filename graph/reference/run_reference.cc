#include "graph/open_dimensions.h"
#include "graph/reference.h"
#include "graph/reference/run.h"

namespace tunec {
namespace {

Status CheckInputs(const Graph& graph, std::span<const Array> inputs) {
  if (inputs.size() != graph.inputs().size())
    return Fail(ErrorCode::kInvalidArgument, "graph {} got {} inputs, expected {}", graph.name(),
                inputs.size(), graph.inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs()[i]);
    const std::vector<Dim> dims(inputs[i].shape().begin(), inputs[i].shape().end());
    const bool widened = IsFloat(value.type.type) && inputs[i].type() == DataType::kF64;
    if (inputs[i].type() != value.type.type && !widened)
      return Fail(ErrorCode::kInvalidArgument, "input {} is {}, expected {}", value.name,
                  Name(inputs[i].type()), Name(value.type.type));
    if (dims != value.type.dims)
      return Fail(ErrorCode::kInvalidArgument, "input {} is {}, expected {}", value.name,
                  ShapeText(dims), ShapeText(value.type.dims));
  }
  return {};
}

/// Returns the number of reads of each value; a graph output counts as a read. The array of a value
/// is dropped after its last read.
std::vector<int> CountReads(const Graph& graph) {
  std::vector<int> reads(graph.values().size(), 0);
  for (const Node& node : graph.nodes())
    for (const ValueId input : node.inputs)
      if (input.valid()) ++reads[input.index];
  for (const ValueId output : graph.outputs()) ++reads[output.index];
  return reads;
}

Status RunOne(const Graph& graph, const Node& node, Precision precision,
              const OperandRewrite& rewrite, std::vector<Array>& arrays) {
  std::vector<Array> operands;
  for (const ValueId input : node.inputs)
    operands.push_back(input.valid() ? arrays[input.index] : Array(DataType::kU8, {}));
  if (rewrite) rewrite(node, operands);
  std::vector<ValueType> types;
  for (const ValueId output : node.outputs) types.push_back(graph.value(output).type);
  TUNEC_ASSIGN(std::vector<Array> results, RunNode(node, operands, types, precision));
  for (size_t i = 0; i < results.size(); ++i) arrays[node.outputs[i].index] = std::move(results[i]);
  return {};
}

Result<std::vector<Array>> RunNodes(const Graph& graph, std::span<const Array> inputs,
                                    Precision precision, const OperandRewrite& rewrite) {
  TUNEC_RETURN_IF_ERROR(RequireFixedAttributes(graph));
  TUNEC_RETURN_IF_ERROR(CheckInputs(graph, inputs));
  std::vector<Array> arrays(graph.values().size());
  std::vector<int> reads = CountReads(graph);
  for (size_t i = 0; i < inputs.size(); ++i) arrays[graph.inputs()[i].index] = inputs[i];
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::kConstant) arrays[node.outputs[0].index] = node.constant;
    if (node.op == Op::kConstant || node.op == Op::kInput) continue;
    TUNEC_RETURN_IF_ERROR(RunOne(graph, node, precision, rewrite, arrays));
    for (const ValueId input : node.inputs)
      if (input.valid() && --reads[input.index] == 0) arrays[input.index] = Array();
  }
  std::vector<Array> results;
  for (const ValueId output : graph.outputs()) {
    const Array& array = arrays[output.index];
    results.push_back(precision == Precision::kFloat64 ? reference::Widened(array) : array);
  }
  return results;
}

}  // namespace

Result<std::vector<Array>> RunReference(const Graph& graph, std::span<const Array> inputs,
                                        Precision precision) {
  return RunNodes(graph, inputs, precision, {});
}

Result<std::vector<Array>> RunReferenceWith(const Graph& graph, std::span<const Array> inputs,
                                            const OperandRewrite& rewrite) {
  return RunNodes(graph, inputs, Precision::kNative, rewrite);
}

}  // namespace tunec
