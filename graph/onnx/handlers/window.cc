#include "graph/onnx/handlers/window.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace tunec::onnx_import {
namespace {

Status Check(const std::vector<int64_t>& values, std::string_view name, size_t count,
             int64_t least) {
  const auto is_valid = [&](int64_t value) { return value >= least && value <= kMostWindow; };
  if (values.size() == count && std::ranges::all_of(values, is_valid)) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} is [{}], expected {} values of at least {}", name,
              fmt::join(values, ","), count, least);
}

}  // namespace

void Window::SetPads(size_t axis, const Dim& total, bool is_upper) {
  const Dim half = Dim::FloorDiv(total, 2);
  pads[axis] = is_upper ? half : total - half;
  pads[axis + rank()] = total - pads[axis];
}

Result<Window> ReadWindow(const NodeContext& node, const std::vector<int64_t>& kernel) {
  Window window;
  TUNEC_ASSIGN(window.kernel, node.Ints("kernel_shape", kernel));
  if (!kernel.empty() && window.kernel != kernel) {
    return Fail(ErrorCode::kInvalidArgument, "kernel_shape is [{}], the filter's is [{}]",
                fmt::join(window.kernel, ","), fmt::join(kernel, ","));
  }
  const size_t rank = window.kernel.size();
  TUNEC_ASSIGN(window.strides, node.Ints("strides", std::vector<int64_t>(rank, 1)));
  TUNEC_ASSIGN(window.dilations, node.Ints("dilations", std::vector<int64_t>(rank, 1)));
  TUNEC_ASSIGN(const auto pads, node.Ints("pads", std::vector<int64_t>(2 * rank, 0)));
  TUNEC_RETURN_IF_ERROR(Check(window.kernel, "kernel_shape", rank, 1));
  TUNEC_RETURN_IF_ERROR(Check(window.strides, "strides", rank, 1));
  TUNEC_RETURN_IF_ERROR(Check(window.dilations, "dilations", rank, 1));
  TUNEC_RETURN_IF_ERROR(Check(pads, "pads", 2 * rank, 0));
  window.pads.assign(pads.begin(), pads.end());
  return window;
}

Result<std::vector<Dim>> SpatialSizes(const Operand& x) {
  if (x->rank() < 3 || x->rank() > 5) {
    return Fail(x->rank() < 3 ? ErrorCode::kInvalidArgument : ErrorCode::kUnsupported,
                "input has rank {}, expected 3 to 5 (batch, channel, one to three spatial axes)",
                x->rank());
  }
  return x->shape.Part(2);
}

Status ResolveAutoPad(const NodeContext& node, const std::vector<Dim>& sizes, Window& window) {
  TUNEC_ASSIGN(const std::string mode,
               node.Choice("auto_pad", {"NOTSET", "", "VALID", "SAME_UPPER", "SAME_LOWER"}));
  const size_t rank = window.rank();
  if (sizes.size() != rank) {
    return Fail(ErrorCode::kInvalidArgument, "kernel has {} axes, expected {}", rank, sizes.size());
  }
  if (mode == "NOTSET" || mode.empty()) return {};
  window.pads.assign(2 * rank, 0);
  if (mode == "VALID") return {};
  for (size_t i = 0; i < rank; ++i) {
    const Dim outputs = Dim::CeilDiv(sizes[i], window.strides[i]);
    const Dim covered = (outputs - 1) * window.strides[i] + window.Span(i);
    window.SetPads(i, MaxOf(0, covered - sizes[i]), mode == "SAME_UPPER");
  }
  return {};
}

}  // namespace tunec::onnx_import
