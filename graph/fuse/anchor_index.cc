#include "graph/fuse/anchor_index.h"

#include "graph/ops/index_maps.h"

namespace tunec {
namespace {

constexpr int kMostSteps = 16;

AnchorIndex IndexOfConv(const Graph& graph, const Node& node) {
  const std::vector<int64_t> shape = graph.value(node.outputs[0]).type.Shape();
  const int64_t groups = node.Int("group");
  const int64_t channels = shape[1] / groups;  // channels of one group
  AnchorIndex result;
  const auto add = [&](int64_t extent) {
    result.extents.push_back(extent);
    return IndexExpr::Var(IteratorVar(result.extents.size() - 1));
  };
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool split = d == 1 && groups > 1 && channels > 1;
    const IndexExpr outer = add(split ? groups : shape[d]);
    result.index.push_back(split ? outer * channels + add(channels) : outer);
  }
  return result;
}

std::optional<AnchorIndex> Follow(const Graph& graph, ValueId value, int steps) {
  const Node& node = graph.producer(value);
  if (steps == 0) return {};
  if (node.op == Op::kConv && graph.value(value).type.dims.size() > 2)
    return IndexOfConv(graph, node);
  if (node.op == Op::kTranspose || node.op == Op::kReshape) {
    const std::optional<AnchorIndex> input = Follow(graph, node.inputs[0], steps - 1);
    return input ? std::optional(Renamed(graph, node, *input)) : std::nullopt;
  }
  if (PatternOf(node.op) != OpPattern::kElementwise) return {};
  for (const ValueId input : node.inputs) {
    if (!input.valid() || graph.value(input).type.dims != graph.value(value).type.dims) continue;
    if (auto found = Follow(graph, input, steps / 2)) return found;
  }
  return {};
}

}  // namespace

std::optional<AnchorIndex> FindAnchorIndex(const Graph& graph, ValueId value) {
  return Follow(graph, value, kMostSteps);
}

AnchorIndex Renamed(const Graph& graph, const Node& node, const AnchorIndex& input) {
  AnchorIndex result{.extents = input.extents, .index = {}};
  if (node.op == Op::kTranspose) {
    result.index = Permute(input.index, node.Ints("perm"));
  } else {
    result.index = ReshapeIndex(input.index, graph.value(node.inputs[0]).type.Shape(),
                                graph.value(node.outputs[0]).type.Shape());
  }
  const auto range = [&](VarId v) { return Interval{0, input.extents[v.index()] - 1}; };
  for (IndexExpr& e : result.index) e = Simplify(e, range);
  return result;
}

}  // namespace tunec
