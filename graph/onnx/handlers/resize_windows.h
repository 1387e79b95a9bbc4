// Resizing that the operator `resize` does not support: antialiasing, cropping, and weights that
// exclude elements outside the image. Each changed axis is resized by weighted sums over windows.
// Only graph/onnx uses this file.
#pragma once

#include <string>
#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

struct WindowResize {
  std::vector<Dim> shape;  // shape of the result
  std::vector<double> scales;
  std::string mode;  // nearest, linear, cubic
  std::string nearest_mode;
  std::string coordinate;
  double cubic_a = -0.75;
  bool antialias = false;
  bool exclude_outside = false;
  std::vector<double> roi;  // begins, then ends, as fractions of the axes; empty: all
  double extrapolation = 0;
};

/// Returns the resized image. Fails with kUnsupported if a changed axis is empty, has a named size
/// or has too many taps.
Result<Formula> ResizeByWindows(const Formula& x, const WindowResize& resize);

}  // namespace tunec::onnx_import
