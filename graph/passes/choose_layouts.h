#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Stores values of rank 4 around two-dimensional convolutions and pools channels-last
/// ({N, H, W, C}): what such an operator makes or reads, and what elementwise operators,
/// concatenations, pads and resizes make of channels-last values. Graph inputs, constants and
/// graph outputs keep their order, as do values with one channel or one position. Operators
/// stay logical: only Value::layout changes.
/// Requires: verified. Ensures: the same nodes. O(nodes).
Result<Graph> ChooseLayouts(const Graph& graph, const PassOptions& options);

}  // namespace tunec
