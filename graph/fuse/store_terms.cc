#include "graph/fuse/store_terms.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <vector>

namespace tunec {
namespace {

// Products of fewer reduced elements gain nothing by pairs.
constexpr int64_t kFewestProducts = 8;

bool IsLongEnough(const Graph& graph, const Node& node) {
  const std::vector<int64_t> filter = graph.value(node.inputs[1]).type.Shape();
  return node.Int("group") == 1 && filter[1] >= kFewestProducts;
}

// Whether the operator multiplies its operand as one that instructions for pairs can have: a
// channel of its own for each product is none.
bool Multiplies(const Graph& graph, const Node& node, size_t operand) {
  if (operand > 1) return false;
  if (node.op == Op::kConv) return IsLongEnough(graph, node);
  if (node.op != Op::kMatmul) return false;
  const std::vector<int64_t> left = graph.value(node.inputs[0]).type.Shape();
  return left.size() > 1 && left.back() >= kFewestProducts;
}

// Whether what the operator reads and makes is stored as it is: a scatter's result lies in its
// data's place.
bool KeepsType(Op op) {
  return PatternOf(op) == OpPattern::kOpaque || PatternOf(op) == OpPattern::kScatter;
}

// Values that share storage, by the one whose storage it is.
class Storages {
 public:
  Storages(const Graph& graph, const FusionPlan& plan) : graph_(graph) {
    for (const StorageView& view : plan.views) owner_[view.value] = view.owner;
    for (const FusionGroup& group : plan.groups) AddGroup(group);
    for (const NodeId node : plan.view_nodes) AddViewNode(graph.node(node));
    for (int32_t v = 0; v < std::ssize(graph.values()); ++v) Close({v});
    for (const Node& node : graph.nodes() | std::views::reverse) AddBeforePool(node);
  }

  bool IsStoredAsTerms(ValueId value) const {
    const ValueId owner = OwnerOf(value);
    return multiplied_.contains(owner) && written_.contains(owner) && !closed_.contains(owner);
  }

 private:
  ValueId OwnerOf(ValueId value) const {
    const auto found = owner_.find(value);
    return found == owner_.end() ? value : found->second;
  }

  void AddGroup(const FusionGroup& group) {
    for (const ValueId output : group.outputs) written_.insert(OwnerOf(output));
    for (const NodeId id : group.nodes) {
      const Node& node = graph_.node(id);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i].valid()) continue;
        if (Multiplies(graph_, node, i)) multiplied_.insert(OwnerOf(node.inputs[i]));
        if (KeepsType(node.op)) closed_.insert(OwnerOf(node.inputs[i]));
      }
    }
  }

  // The largest of rounded elements is the largest one rounded: it makes no difference who rounds.
  void AddBeforePool(const Node& node) {
    if (node.op != Op::kMaxPool || !IsStoredAsTerms(node.outputs[0])) return;
    multiplied_.insert(OwnerOf(node.inputs[0]));
  }

  // What it reads and makes lies in one storage, or nobody rounds it on the way.
  void AddViewNode(const Node& node) {
    for (const ValueId output : node.outputs) {
      for (const ValueId input : node.inputs) {
        if (!input.valid() || OwnerOf(input) == OwnerOf(output)) continue;
        closed_.insert(OwnerOf(input));
        closed_.insert(OwnerOf(output));
      }
    }
  }

  void Close(ValueId value) {
    const Value& of = graph_.value(value);
    const bool is_data = KindOf(graph_.producer(value).op) == OpKind::kData;
    const bool is_kept = KeepsType(graph_.producer(value).op);
    if (of.type.type != DataType::kF32 || is_data || is_kept || graph_.IsOutput(value)) {
      closed_.insert(OwnerOf(value));
    }
  }

  const Graph& graph_;
  std::map<ValueId, ValueId> owner_;  // of views
  std::set<ValueId> multiplied_;      // by owner, as all of these
  std::set<ValueId> written_;
  std::set<ValueId> closed_;
};

}  // namespace

void StoreTerms(const Graph& graph, FusionPlan& plan) {
  const Storages storages(graph, plan);
  for (FusionGroup& group : plan.groups) {
    for (const auto* values : {&group.inputs, &group.outputs}) {
      for (const ValueId value : *values) {
        if (storages.IsStoredAsTerms(value)) group.stored[value] = DataType::kBF16;
      }
    }
  }
  for (int32_t v = 0; v < std::ssize(graph.values()); ++v) {
    if (storages.IsStoredAsTerms({v})) plan.stored[{v}] = DataType::kBF16;
  }
}

}  // namespace tunec
