// Weighted sums over windows of an axis. Windows differ in place, length and weights. Internal to
// graph/onnx.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// An element of a window, and what it is multiplied by.
struct WindowTap {
  int64_t index = 0;
  double weight = 0;
};
using TapWindow = std::vector<WindowTap>;

/// Returns `x` with the axis replaced by one sum for each window. A sum reads the elements of one
/// window only, so an infinity spoils no other window. Requires: every window has a tap, and `x`
/// has the type that sums are computed in.
Formula SumWindows(const Formula& x, int64_t axis, const std::vector<TapWindow>& windows);

}  // namespace tunec::onnx_import
