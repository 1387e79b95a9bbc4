#include "graph/random_inputs.h"

#include "graph/count_graph.h"
#include "ir/allocate_array.h"
#include "support/random.h"

namespace tunec {
namespace {

/// Whether the output's elements are the first input's, possibly converted.
bool PassesValuesOn(Op op) { return IsView(op) || op == Op::kCast; }

/// Of the axes that a scatter's indices number.
int64_t ScatteredPlaces(const Graph& graph, const Node& node) {
  int64_t places = 1;
  for (int64_t d = 0; d < node.Int("depth"); ++d)
    places *= graph.value(node.inputs[0]).type.dims[node.Int("axis") + d].size();
  return places;
}

/// The size of the smallest axis that the value indexes; 0 when it indexes none.
int64_t IndexBound(const Graph& graph, const std::vector<std::vector<NodeId>>& users,
                   ValueId value) {
  int64_t bound = 0;
  const auto lower = [&](int64_t size) {
    if (size > 0 && (bound == 0 || size < bound)) bound = size;
  };
  for (const NodeId user : users[value.index]) {
    const Node& node = graph.node(user);
    if (PassesValuesOn(node.op) && node.inputs[0] == value)
      lower(IndexBound(graph, users, node.outputs[0]));
    const bool gathers = node.op == Op::kGather || node.op == Op::kGatherElements;
    if (gathers && node.inputs[1] == value)
      lower(graph.value(node.inputs[0]).type.dims[node.Int("axis")].size());
    if (node.op == Op::kScatter && node.inputs[1] == value) lower(ScatteredPlaces(graph, node));
    if (node.op == Op::kOneHot && node.inputs[0] == value) lower(node.Int("depth"));
  }
  return bound;
}

Result<Array> RandomArray(const Value& value, uint64_t bound, Random random) {
  const DataType type = value.type.type;
  TUNEC_ASSIGN(Array array, AllocateArray(type, value.type.Shape(), "input " + value.name));
  if (IsFloat(type)) {
    for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, 2.0 * random.Unit() - 1.0);
  } else {
    for (int64_t i = 0; i < array.size(); ++i)
      array.SetInt(i, static_cast<int64_t>(random.Below(bound)));
  }
  return array;
}

}  // namespace

Result<std::vector<Array>> RandomInputs(const Graph& graph, uint64_t seed) {
  const std::vector<std::vector<NodeId>> users = graph.Users();
  std::vector<Array> inputs;
  for (const ValueId input : graph.inputs()) {
    const Value& value = graph.value(input);
    const int64_t bound = IndexBound(graph, users, input);
    TUNEC_ASSIGN(Array array, RandomArray(value, bound > 0 ? static_cast<uint64_t>(bound) : 2,
                                          Random(StreamSeed(seed, value.name))));
    inputs.push_back(std::move(array));
  }
  return inputs;
}

}  // namespace tunec
