#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Stores images in orders of low cost (layout_cost.h): channels first, channels last, or blocks of
/// channels. Images are values of rank 3 or more around convolutions, pools and lrn. Images of one
/// rank form a group with one order if elementwise operators, concatenations, pads, slices or
/// resizes connect them. So do reshapes that keep batch and channels. If PassOptions::image_order
/// is empty, a search starts from channels last. In at most 4 sweeps it sets each group in turn to
/// the cheapest order for the nodes around the group. Graph inputs, constants, graph outputs,
/// values of dynamic shape, and values with one channel or one position keep their order. Operators
/// do not change: only Value::layout does. Requires a verified graph. The result has the same
/// nodes. O(nodes).
Result<Graph> ChooseLayouts(const Graph& graph, const PassOptions& options);

}  // namespace tunec
