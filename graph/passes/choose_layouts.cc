#include "graph/passes/choose_layouts.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "graph/passes/layout_cost.h"

namespace tunec {
namespace {

constexpr int kMostSweeps = 4;
constexpr double kGain = 0.999;  // a new order must cost less than this fraction of the old cost

// Returns whether `use` is the use of convolutions, pools or lrn. Orders are chosen only for groups
// with a result or the first operand of such an operator.
bool IsSpatial(ImageUse use) {
  return use == ImageUse::kConvolution || use == ImageUse::kPool || use == ImageUse::kNeighbours;
}

// Returns whether the pass may change the value's order. The value needs elements and a fixed shape
// of at least three dimensions. Graph inputs, graph outputs and constants keep their order. With
// one channel or one position, channels first and channels last are the same.
bool MayBeReordered(const Graph& graph, ValueId value) {
  const ValueType& type = graph.value(value).type;
  if (type.dims.size() < 3 || !type.IsFixed() || graph.IsOutput(value)) return false;
  if (KindOf(graph.producer(value).op) == OpKind::kData) return false;
  const std::vector<int64_t> shape = type.Shape();
  const int64_t positions = ElementCount(std::span(shape).subspan(2));
  return shape[0] > 0 && shape[1] > 1 && positions > 1;
}

// Returns true if two values of a node are best stored in one order. A reshape that keeps batch and
// channels stores the elements in the same sequence in each order: [N, C, HW] and [N, C, H, W].
// Requires: both values may be reordered.
bool SharesOrder(const Node& node, const ValueType& from, const ValueType& to) {
  if (node.op == Op::kReshape) return from.dims[0] == to.dims[0] && from.dims[1] == to.dims[1];
  return ImageUseOf(node.op) == ImageUse::kSameOrder && from.dims.size() == to.dims.size();
}

// Groups of values that share one order. Operators with the use kSameOrder and reshapes that keep
// channels connect them.
class SharedOrderGroups {
 public:
  explicit SharedOrderGroups(const Graph& graph) : graph_(graph), parent_(graph.values().size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    std::vector<bool> spatial(parent_.size());
    for (const Node& node : graph.nodes()) Join(node);
    for (const Node& node : graph.nodes()) {
      if (!IsSpatial(ImageUseOf(node.op))) continue;
      for (const ValueId output : node.outputs) spatial[Root(output)] = true;
      if (node.inputs[0].valid()) spatial[Root(node.inputs[0])] = true;
    }
    for (size_t v = 0; v < parent_.size(); ++v) {
      const ValueId value{static_cast<int32_t>(v)};
      open_.push_back(MayBeReordered(graph, value) && spatial[Root(value)]);
    }
  }

  /// Returns the unit of a value: the root of its group. Returns -1 if the pass chooses no order
  /// for the value.
  int32_t UnitOf(ValueId value) { return value.valid() && open_[value.index] ? Root(value) : -1; }
  /// Returns, per unit, the nodes that make or read its values, in the order of the graph.
  std::vector<std::vector<const Node*>> NodesOfUnits() {
    std::vector<std::vector<const Node*>> nodes(parent_.size());
    const auto add = [&](const Node& node, ValueId value) {
      const int32_t unit = UnitOf(value);
      if (unit < 0) return;
      if (nodes[unit].empty() || nodes[unit].back() != &node) nodes[unit].push_back(&node);
    };
    for (const Node& node : graph_.nodes()) {
      for (const ValueId input : node.inputs) add(node, input);
      for (const ValueId output : node.outputs) add(node, output);
    }
    return nodes;
  }

 private:
  void Join(const Node& node) {
    for (const ValueId output : node.outputs) {
      if (!MayBeReordered(graph_, output)) continue;
      for (const ValueId input : node.inputs) {
        if (!input.valid() || !MayBeReordered(graph_, input)) continue;
        if (SharesOrder(node, graph_.value(input).type, graph_.value(output).type))
          parent_[Root(input)] = Root(output);
      }
    }
  }
  int32_t Root(ValueId value) {
    int32_t v = value.index;
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

  const Graph& graph_;
  std::vector<int32_t> parent_;
  std::vector<bool> open_;
};

// The order of each unit: the order in the options, or the result of a local search. The search
// sets each unit in turn to the cheapest order (Improve). The search ends after a sweep without
// changes, or after kMostSweeps sweeps.
class OrderSearch {
 public:
  OrderSearch(const Graph& graph, const PassOptions& options)
      : graph_(graph),
        machine_(options.machine),
        units_(graph),
        nodes_(units_.NodesOfUnits()),
        order_(graph.values().size(), options.image_order.value_or(ImageOrder::kChannelsLast)) {
    if (!options.image_order) Search();
  }

  ImageOrder OrderOf(ValueId value) {
    const int32_t unit = units_.UnitOf(value);
    return unit < 0 ? ImageOrder::kChannelsFirst : order_[unit];
  }

 private:
  void Search() {
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      bool changed = false;
      for (size_t unit = 0; unit < nodes_.size(); ++unit) {
        if (!nodes_[unit].empty()) changed |= Improve(unit);
      }
      if (!changed) return;
    }
  }

  // Sets the cheapest order of a unit, and returns whether the order changed. Another order must
  // cost less than kGain times the current order. Of equal costs, the first order in the list is
  // chosen.
  bool Improve(size_t unit) {
    const ImageOrder before = order_[unit];
    ImageOrder best = before;
    double least = CostAround(unit) * kGain;
    for (const ImageOrder order :
         {ImageOrder::kChannelsFirst, ImageOrder::kChannelsLast, ImageOrder::kBlocked}) {
      order_[unit] = order;
      const double cost = order == before ? least : CostAround(unit);
      if (cost >= least) continue;
      least = cost;
      best = order;
    }
    order_[unit] = best;
    return best != before;
  }

  double CostAround(size_t unit) {
    double cost = 0;
    for (const Node* node : nodes_[unit]) {
      NodeOrders orders;
      for (const ValueId input : node->inputs) orders.inputs.push_back(OrderOf(input));
      for (const ValueId output : node->outputs) orders.outputs.push_back(OrderOf(output));
      cost += LayoutCost(graph_, *node, orders, machine_);
    }
    return cost;
  }

  const Graph& graph_;
  const FusionMachine& machine_;
  SharedOrderGroups units_;
  std::vector<std::vector<const Node*>> nodes_;
  std::vector<ImageOrder> order_;  // indexed by unit
};

}  // namespace

Result<Graph> ChooseLayouts(const Graph& graph, const PassOptions& options) {
  OrderSearch orders(graph, options);
  const auto is_plain = [&](ValueId value) {
    return orders.OrderOf(value) == ImageOrder::kChannelsFirst;
  };
  bool any = false;
  for (int32_t v = 0; v < std::ssize(graph.values()); ++v) any |= !is_plain({v});
  if (!any) return graph;
  return Rebuild(
      graph,
      [&](const Node& node, const std::vector<ValueId>& inputs,
          GraphBuilder& builder) -> Result<std::vector<ValueId>> {
        if (std::ranges::all_of(node.outputs, is_plain)) return std::vector<ValueId>{};
        TUNEC_ASSIGN(std::vector<ValueId> outputs, builder.CopyNode(graph, node, inputs));
        for (size_t i = 0; i < outputs.size(); ++i) {
          const ImageOrder order = orders.OrderOf(node.outputs[i]);
          const std::vector<int64_t> shape = builder.TypeOf(outputs[i]).Shape();
          builder.SetLayout(outputs[i], MakeLayout(order, shape, options.machine.vector_lanes));
        }
        return outputs;
      });
}

}  // namespace tunec
