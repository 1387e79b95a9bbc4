#include "graph/count_graph.h"

#include <algorithm>
#include <set>
#include <vector>

#include "graph/open_dimensions.h"

namespace tunec {
namespace {

int64_t BytesOf(const Graph& graph, ValueId id) { return graph.value(id).type.Bytes(); }

// Returns the value that is read from memory for an operand: the operand before it was expanded.
ValueId Unexpanded(const Graph& graph, ValueId id) {
  while (graph.producer(id).op == Op::kExpand) id = graph.producer(id).inputs[0];
  return id;
}

int64_t BytesMoved(const Graph& graph, const Node& node) {
  if (IsView(node.op)) return 0;
  std::set<ValueId> read;
  for (const ValueId input : node.inputs)
    if (input.valid()) read.insert(Unexpanded(graph, input));
  int64_t bytes = 0;
  for (const ValueId id : read) bytes += BytesOf(graph, id);
  for (const ValueId output : node.outputs) bytes += BytesOf(graph, output);
  return bytes;
}

// Returns for each node whether an output depends on it.
std::vector<bool> LiveNodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes().size());
  for (const ValueId output : graph.outputs()) live[graph.value(output).producer.index] = true;
  for (size_t n = live.size(); n-- > 0;)
    for (const ValueId input : graph.nodes()[n].inputs)
      if (live[n] && input.valid()) live[graph.value(input).producer.index] = true;
  return live;
}

// Returns the values that only batch normalisations read, as mean or variance.
std::set<ValueId> Statistics(const Graph& graph) {
  std::set<ValueId> statistics, others;
  for (const Node& node : graph.nodes())
    for (size_t i = 0; i < node.inputs.size(); ++i)
      (node.op == Op::kBatchNorm && i >= 3 ? statistics : others).insert(node.inputs[i]);
  for (const ValueId id : others) statistics.erase(id);
  return statistics;
}

}  // namespace

bool IsView(Op op) {
  switch (op) {
    case Op::kIdentity:
    case Op::kReshape:
    case Op::kTranspose:
    case Op::kSlice:
    case Op::kExpand:
      return true;
    default:
      return false;
  }
}

int64_t CountNodes(const Graph& graph) {
  return std::ranges::count_if(graph.nodes(), [](const Node& node) { return !IsLeaf(node.op); });
}

Result<GraphCounts> CountGraph(const Graph& graph) {
  TUNEC_RETURN_IF_ERROR(RequireFixedSizes(graph));
  GraphCounts counts;
  counts.nodes = CountNodes(graph);
  const std::set<ValueId> statistics = Statistics(graph);
  const std::vector<bool> live = LiveNodes(graph);
  for (size_t n = 0; n < live.size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.op == Op::kConstant) {
      const bool counted = live[n] && IsFloat(node.constant.type()) &&
                           !node.constant.shape().empty() && !statistics.contains(node.outputs[0]);
      counts.parameters += counted ? node.constant.size() : 0;
    } else if (!IsLeaf(node.op)) {
      counts.bytes += BytesMoved(graph, node);
    }
  }
  return counts;
}

}  // namespace tunec
