#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Stores images (rank 3 and more, around convolutions and pools) in the order that costs least
/// (layout_cost.h): channels first, channels last, or in blocks of channels. Values that only
/// elementwise operators, concatenations, pads, slices and resizes stand between have one order;
/// each such set takes in turn the order that is cheapest for the nodes around it, until none
/// changes. It starts from channels last. Graph inputs, constants and graph outputs keep their
/// order, as do values with one channel or one position. Operators stay logical: only
/// Value::layout changes.
/// Requires: verified. Ensures: the same nodes. O(nodes).
Result<Graph> ChooseLayouts(const Graph& graph, const PassOptions& options);

}  // namespace tunec
