#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Stores images in orders of low cost (layout_cost.h): channels first, channels last, or blocks of
/// channels. Images are values of rank 3 or more around convolutions, pools and sums over
/// neighbouring channels. Values that are connected by elementwise operators, concatenations, pads,
/// slices and resizes form a group with one order. The search starts from channels last. It sets
/// each group in turn to the cheapest order for the nodes around the group, until no group changes,
/// at most 4 times. Graph inputs, constants, graph outputs, and values with one channel or one
/// position keep their order.
/// Operators do not change: only Value::layout does.
/// Requires: verified. Ensures: the same nodes. O(nodes).
Result<Graph> ChooseLayouts(const Graph& graph, const PassOptions& options);

}  // namespace tunec
