// Windows of convolutions and pools, read from ONNX nodes. Only graph/onnx uses this file.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

/// Largest kernel size, stride, dilation or pad that is accepted.
inline constexpr int64_t kMostWindow = 1 << 24;

/// A window. Each list has one entry per spatial axis, but pads are all begins, then all ends.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<Dim> pads;

  size_t rank() const { return kernel.size(); }
  /// Returns the number of elements that the dilated kernel spans.
  int64_t Span(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// Divides pads between both ends of an axis. The smaller half is at the beginning if `is_upper`.
  void SetPads(size_t axis, const Dim& total, bool is_upper);
};

/// Reads kernel_shape, strides, dilations and pads, and checks their lengths and ranges. If
/// `kernel` is not empty, kernel_shape must equal it or be omitted. auto_pad is not resolved.
Result<Window> ReadWindow(const NodeContext& node, const std::vector<int64_t>& kernel);

/// Returns the sizes of an operand's spatial axes: all after batch and channel, one to three.
Result<std::vector<Dim>> SpatialSizes(const Operand& x);

/// Sets pads from auto_pad, for windows that slide over `sizes`. NOTSET leaves the pads unchanged.
Status ResolveAutoPad(const NodeContext& node, const std::vector<Dim>& sizes, Window& window);

}  // namespace tunec::onnx_import
