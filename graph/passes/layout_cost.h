// The cost of an image's storage order for the operators that make and read the image.
#pragma once

#include <vector>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"
#include "graph/passes/image_order.h"

namespace tunec {

/// Orders of a node's operands and results; kChannelsFirst for values that are not images.
struct NodeOrders {
  std::vector<ImageOrder> inputs;
  std::vector<ImageOrder> outputs;
};

/// Returns the estimated cycles of a core of `machine` for the node: vector operations, one lane
/// per gathered or scattered element, and the bytes of blocked padding. Returns 0 for views and for
/// nodes with open dimensions, which accept any order. Only differences between orders are
/// meaningful. O(operands).
double LayoutCost(const Graph& graph, const Node& node, const NodeOrders& orders,
                  const FusionMachine& machine);

}  // namespace tunec
