#include "graph/passes/fold_constants.h"

#include <algorithm>

#include "graph/derived_constant.h"
#include "graph/reference.h"

namespace tunec {
namespace {

int64_t BytesOf(const ValueType& type) {
  const int64_t count = ElementCount(type.Shape());
  return count < 0 ? INT64_MAX : count * static_cast<int64_t>(SizeOf(type.type));
}

bool MayFold(const Graph& graph, const Node& node, const PassOptions& options) {
  const OpKind kind = KindOf(node.op);
  if (kind == OpKind::kControl || kind == OpKind::kMemory || node.op == Op::kInput ||
      node.op == Op::kConstant || node.outputs.empty())
    return false;
  int64_t made = 0;
  for (const ValueId output : node.outputs) {
    const ValueType& type = graph.value(output).type;
    if (graph.IsOutput(output) || !type.IsFixed()) return false;
    made += BytesOf(type);
    if (made > (int64_t{1} << 40)) return false;
  }
  for (const ValueId input : node.inputs)
    if (input.valid()) made -= BytesOf(graph.value(input).type);
  return made <= options.fold_growth_bytes;
}

// How much larger the graph's constants may become.
class GrowthBudget {
 public:
  GrowthBudget(const Graph& graph, const PassOptions& options)
      : graph_(graph), users_(graph.Users()) {
    int64_t constants = 0;
    for (const Node& node : graph.nodes()) constants += static_cast<int64_t>(node.constant.bytes());
    left_ = options.fold_growth_bytes +
            static_cast<int64_t>(options.fold_growth_factor * static_cast<double>(constants));
  }

  bool Take(const Node& node) {
    int64_t growth = 0;
    for (const ValueId output : node.outputs) growth += BytesOf(graph_.value(output).type);
    for (const ValueId input : node.inputs)
      if (input.valid() && users_[input.index].size() == 1)
        growth -= BytesOf(graph_.value(input).type);
    if (growth > left_) return false;
    left_ -= growth;
    return true;
  }

 private:
  const Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
  int64_t left_ = 0;
};

// The operands' arrays; nothing unless all are constants.
std::optional<std::vector<Array>> ConstantOperands(const Graph& graph,
                                                   const std::vector<ValueId>& inputs) {
  std::vector<Array> arrays;
  for (const ValueId input : inputs) {
    const Array* constant = input.valid() ? graph.ConstantOf(input) : nullptr;
    if (input.valid() && constant == nullptr) return {};
    arrays.push_back(constant != nullptr ? *constant : Array(DataType::kU8, {0}));
  }
  return arrays;
}

// Per node: whether it may fold, given that what it depends on does.
std::vector<bool> FoldableNodes(const Graph& graph, const PassOptions& options) {
  std::vector<bool> foldable(graph.nodes().size());
  for (size_t n = 0; n < foldable.size(); ++n) {
    const Node& node = graph.nodes()[n];
    foldable[n] =
        MayFold(graph, node, options) && std::ranges::all_of(node.inputs, [&](ValueId input) {
          return !input.valid() || graph.ConstantOf(input) != nullptr ||
                 foldable[graph.value(input).producer.index];
        });
  }
  return foldable;
}

}  // namespace

Result<Graph> FoldConstants(const Graph& graph, const PassOptions& options) {
  const std::vector<bool> foldable = FoldableNodes(graph, options);
  if (std::ranges::find(foldable, true) == foldable.end()) return graph;
  GrowthBudget budget(graph, options);
  return Rebuild(graph,
                 [&](const Node& node, const std::vector<ValueId>& inputs,
                     GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                   std::vector<ValueId> constants;
                   if (!foldable[&node - graph.nodes().data()]) return constants;
                   const auto operands = ConstantOperands(builder.graph(), inputs);
                   if (!operands || !budget.Take(node)) return constants;
                   std::vector<ValueType> types;
                   for (const ValueId output : node.outputs)
                     types.push_back(graph.value(output).type);
                   auto results = RunNode(node, *operands, types);
                   // What cannot be computed now (an index out of range) is left to fail when it is
                   // run.
                   if (!results) return constants;
                   for (size_t i = 0; i < results->size(); ++i)
                     constants.push_back(AddDerivedConstant(
                         builder, graph.value(node.outputs[i]).name, std::move((*results)[i])));
                   return constants;
                 });
}

}  // namespace tunec
