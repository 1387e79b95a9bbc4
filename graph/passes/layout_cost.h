// What the storage order of images costs the operators that make and read them.
#pragma once

#include <vector>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"
#include "graph/passes/image_order.h"

namespace tunec {

/// Orders of a node's operands and results; kChannelsFirst stands for values that are no images.
struct NodeOrders {
  std::vector<ImageOrder> inputs;
  std::vector<ImageOrder> outputs;
};

/// About how many cycles of a core of `machine` the node takes: vector operations,
/// a lane each for elements that are gathered or scattered, and the bytes of blocked padding.
/// Of views, and of nodes with open dimensions: nothing, they take any order. Only differences
/// between orders mean anything. O(operands).
double LayoutCost(const Graph& graph, const Node& node, const NodeOrders& orders,
                  const FusionMachine& machine);

}  // namespace tunec
