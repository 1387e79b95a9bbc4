#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Chooses the storage order of images (rank 3 and more, around convolutions and pools) with the
/// least cost (layout_cost.h): channels first, channels last, or blocks of channels. Values that
/// are connected only by elementwise operators, concatenations, pads, slices and resizes have one
/// order. Each set of connected values in turn takes the cheapest order for the nodes around the
/// set, until none changes. The search starts from channels last. Graph inputs, constants and graph
/// outputs keep their order, and so do values with one channel or one position. Operators stay
/// logical: only Value::layout changes. Requires: verified. Ensures: the same nodes. O(nodes).
Result<Graph> ChooseLayouts(const Graph& graph, const PassOptions& options);

}  // namespace tunec
