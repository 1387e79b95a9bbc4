// The windows of convolutions and pools: ONNX's attributes made explicit. Internal to graph/onnx.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

/// Sizes beyond this have no use.
inline constexpr int64_t kMostWindow = 1 << 24;

/// One entry per spatial axis; pads hold all begins, then all ends.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;

  size_t rank() const { return kernel.size(); }
  /// How many elements the dilated kernel spans.
  int64_t Span(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Reads kernel_shape (or takes `kernel`), strides, dilations, pads, checked for length and sign.
/// auto_pad is not resolved.
Result<Window> ReadWindow(const NodeContext& node, const std::vector<int64_t>& kernel);

/// The sizes of an operand's spatial axes: all after batch and channel, one to three.
Result<std::vector<int64_t>> SpatialSizes(const Operand& x);

/// Sets pads from auto_pad, for windows that slide over `sizes`.
Status ResolveAutoPad(const NodeContext& node, const std::vector<int64_t>& sizes, Window& window);

}  // namespace tunec::onnx_import
