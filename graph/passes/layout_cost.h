// The cost of storage orders of images for the operators that write and read them.
#pragma once

#include <vector>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"
#include "graph/passes/image_order.h"

namespace tunec {

/// The orders of a node's operands and results. Values that are not images have kChannelsFirst.
struct NodeOrders {
  std::vector<ImageOrder> inputs;
  std::vector<ImageOrder> outputs;
};

/// Returns an estimate of the node's cycles on a core of `machine`. The cost counts vector
/// operations, elements that are gathered or scattered one by one, and moved padding of blocked
/// orders. Transposes, reshapes and nodes with dynamic dimensions cost 0. Only differences between
/// orders are meaningful. O(operands).
double LayoutCost(const Graph& graph, const Node& node, const NodeOrders& orders,
                  const FusionMachine& machine);

}  // namespace tunec
