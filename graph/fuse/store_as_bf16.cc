#include "graph/fuse/store_as_bf16.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <vector>

namespace tunec {
namespace {

// Least number of terms for which bfloat16 instructions save time. The terms are a convolution's
// input channels, or the elements along the last axis of a product's first operand.
constexpr int64_t kFewestProducts = 8;

bool IsLongEnough(const Graph& graph, const Node& node) {
  const std::vector<int64_t> filter = graph.value(node.inputs[1]).type.Shape();
  return node.Int("group") == 1 && filter[1] >= kFewestProducts;
}

// Returns whether the node multiplies this operand in a way that bfloat16 instructions support. The
// node must be a matmul, or a convolution with one group, and reach kFewestProducts.
bool Multiplies(const Graph& graph, const Node& node, size_t operand) {
  if (operand > 1) return false;
  if (node.op == Op::kConv) return IsLongEnough(graph, node);
  if (node.op != Op::kMatmul) return false;
  const std::vector<int64_t> left = graph.value(node.inputs[0]).type.Shape();
  return left.size() > 1 && left.back() >= kFewestProducts;
}

// Returns whether the operator's operands and results must be stored in their own type. A scatter's
// result can share the storage of its data.
bool KeepsType(Op op) {
  return PatternOf(op) == OpPattern::kOpaque || PatternOf(op) == OpPattern::kScatter;
}

// The storages of all values, by owner. IsStoredAsBf16 decides for all values of a storage.
class Storages {
 public:
  Storages(const Graph& graph, const FusionPlan& plan) : graph_(graph) {
    for (const StorageView& view : plan.views) owner_[view.value] = view.owner;
    for (const FusionGroup& group : plan.groups) AddGroup(group);
    for (const NodeId node : plan.view_nodes) AddViewNode(graph.node(node));
    for (int32_t v = 0; v < std::ssize(graph.values()); ++v) Close({v});
    for (const Node& node : graph.nodes() | std::views::reverse) AddBeforePool(node);
  }

  bool IsStoredAsBf16(ValueId value) const {
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

  // Treats a maximum pool's operand as a multiplied value if the pool's result is stored as
  // bfloat16. Rounding before or after the maximum gives the same result.
  void AddBeforePool(const Node& node) {
    if (node.op != Op::kMaxPool || !IsStoredAsBf16(node.outputs[0])) return;
    multiplied_.insert(OwnerOf(node.inputs[0]));
  }

  // Excludes an operand and a result of a view node from rounding if they are in different
  // storages, because no kernel rounds between them.
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
    const bool keeps_type = KeepsType(graph_.producer(value).op);
    if (of.type.type != DataType::kF32 || is_data || keeps_type || graph_.IsOutput(value)) {
      closed_.insert(OwnerOf(value));
    }
  }

  const Graph& graph_;
  std::map<ValueId, ValueId> owner_;  // owner of each view
  std::set<ValueId> multiplied_;      // owners, like the sets below
  std::set<ValueId> written_;
  std::set<ValueId> closed_;
};

}  // namespace

void StoreAsBf16(const Graph& graph, FusionPlan& plan) {
  const Storages storages(graph, plan);
  for (FusionGroup& group : plan.groups) {
    for (const auto* values : {&group.inputs, &group.outputs}) {
      for (const ValueId value : *values) {
        if (storages.IsStoredAsBf16(value)) group.stored[value] = DataType::kBF16;
      }
    }
  }
  for (int32_t v = 0; v < std::ssize(graph.values()); ++v) {
    if (storages.IsStoredAsBf16({v})) plan.stored[{v}] = DataType::kBF16;
  }
}

}  // namespace tunec
