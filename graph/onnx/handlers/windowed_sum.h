// Weighted sums over windows of an axis. Each window has its own position, length and weights. Only
// graph/onnx uses this file.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// An element of a window and its weight.
struct WindowTap {
  int64_t index = 0;
  double weight = 0;
};
using TapWindow = std::vector<WindowTap>;

/// Returns `x` with the axis replaced by one sum for each window. A sum reads only the elements of
/// its window. So an infinity affects only the windows with this element. Requires: every window
/// has a tap, and `x` has the type in which sums are computed.
Formula SumWindows(const Formula& x, int64_t axis, const std::vector<TapWindow>& windows);

}  // namespace tunec::onnx_import
