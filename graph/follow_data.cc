#include "graph/follow_data.h"

#include <algorithm>

namespace tunec {
namespace {

bool KeepsElements(const Graph& graph, const Node& node) {
  if (node.op == Op::kIdentity || node.op == Op::kReshape || node.op == Op::kTranspose) return true;
  if (node.op != Op::kCast) return false;
  const DataType from = graph.value(node.inputs[0]).type.type;
  const DataType to = graph.value(node.outputs[0]).type.type;
  const bool integers = IsInteger(from) && IsInteger(to);
  return integers && SizeOf(from) < SizeOf(to) && (IsSigned(to) || !IsSigned(from));
}

}  // namespace

std::vector<bool> ValuesOfData(const Graph& graph) {
  std::vector<bool> is_data;
  for (const Node& node : graph.nodes()) {
    const bool reads_data = std::ranges::any_of(
        node.inputs, [&](ValueId input) { return input.valid() && is_data[input.index]; });
    is_data.insert(is_data.end(), node.outputs.size(), reads_data || node.op == Op::kInput);
  }
  return is_data;
}

ValueId SourceOf(const Graph& graph, ValueId value) {
  while (KeepsElements(graph, graph.producer(value))) value = graph.producer(value).inputs[0];
  return value;
}

}  // namespace tunec
