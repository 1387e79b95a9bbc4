#include "graph/onnx/handlers/resize_windows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/onnx/handlers/windowed_sum.h"

namespace tunec::onnx_import {
namespace {

constexpr int64_t kMostTaps = 1 << 26;
// Largest magnitude of a dropped weight, relative to the greatest magnitude in the window. Such
// weights are treated as rounding errors of zero.
constexpr double kLeastWeight = 1e-10;

struct Axis {
  int64_t from = 0;
  int64_t to = 0;
  double scale = 1;
  double begin = 0;  // start of the region, as a fraction of the axis
  double end = 1;
};

double InputCoordinate(const std::string& mode, int64_t out, const Axis& axis) {
  const auto x = static_cast<double>(out);
  const auto from = static_cast<double>(axis.from);
  const auto to = static_cast<double>(axis.to);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners") return axis.to == 1 ? 0 : x * (from - 1) / (to - 1);
  if (mode == "tf_crop_and_resize") {
    const double length = axis.end - axis.begin;
    const double step = axis.to == 1 ? length / 2 : x * length / (to - 1);
    return (axis.begin + step) * (from - 1);
  }
  if (mode == "pytorch_half_pixel" && axis.to == 1) return 0;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = to / (axis.scale * from);
    return from / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  return (x + 0.5) / axis.scale - 0.5;
}

double RoundNearest(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

/// Returns the filter at a distance: a triangle, or Keys' cubic with parameter a.
double Weight(const WindowResize& resize, double distance) {
  const double d = std::abs(distance);
  if (resize.mode == "linear") return std::max(0.0, 1 - d);
  const double a = resize.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Returns half the length of the filter. With antialiasing the filter grows by the factor by which
/// the axis shrinks.
double SupportOf(const WindowResize& resize, double stretch) {
  return (resize.mode == "linear" ? 1 : 2) / stretch;
}

double StretchOf(const WindowResize& resize, const Axis& axis) {
  return resize.antialias ? std::min(axis.scale, 1.0) : 1;
}

/// Returns the taps, with weights divided by their sum. Omits taps with almost zero weights.
TapWindow Normalised(const TapWindow& taps) {
  double total = 0;
  double most = 0;
  for (const WindowTap& tap : taps) {
    total += tap.weight;
    most = std::max(most, std::abs(tap.weight));
  }
  TapWindow window;
  for (const WindowTap& tap : taps) {
    if (std::abs(tap.weight) > kLeastWeight * most)
      window.push_back({tap.index, tap.weight / total});
  }
  return window;
}

/// Returns the elements, with weights, that the output at input position x reads. Elements outside
/// the image repeat the edge. With exclude_outside, modes other than nearest omit these elements.
TapWindow WindowAt(const WindowResize& resize, const Axis& axis, double x) {
  const auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i, 0, axis.from - 1); };
  if (resize.mode == "nearest") {
    return {{clamped(static_cast<int64_t>(RoundNearest(resize.nearest_mode, x))), 1}};
  }
  const double stretch = StretchOf(resize, axis);
  const double support = SupportOf(resize, stretch);
  const auto first = static_cast<int64_t>(std::floor(x - support)) + 1;
  const auto last = static_cast<int64_t>(std::ceil(x + support)) - 1;
  TapWindow taps;
  for (int64_t i = first; i <= last; ++i) {
    if (resize.exclude_outside && clamped(i) != i) continue;
    const double weight = Weight(resize, (static_cast<double>(i) - x) * stretch);
    if (taps.empty() || taps.back().index != clamped(i)) taps.push_back({clamped(i), 0});
    taps.back().weight += weight;
  }
  return Normalised(taps);
}

/// Returns whether the output at x gets the extrapolation value: the coordinates are
/// tf_crop_and_resize and x is outside the axis. NaN, which a file's region may cause, is outside.
bool IsOutside(const WindowResize& resize, const Axis& axis, double x) {
  return resize.coordinate == "tf_crop_and_resize" &&
         !(x >= 0 && x <= static_cast<double>(axis.from - 1));
}

/// Returns axis `d`, or nullopt if it is unchanged. Fails with kUnsupported for a named size.
Result<std::optional<Axis>> AxisOf(const WindowResize& resize, const OperandShape& from, size_t d) {
  Axis axis{.scale = resize.scales[d]};
  if (!resize.roi.empty()) {
    axis.begin = resize.roi[d];
    axis.end = resize.roi[d + from.size()];
  }
  const Dim& extent = from.list()[d];
  if (extent == resize.shape[d] && axis.scale == 1 && axis.begin == 0 && axis.end == 1)
    return std::nullopt;
  TUNEC_ASSIGN(const std::vector<int64_t> extents, NodeContext::Numbers({extent, resize.shape[d]}));
  axis.from = extents[0];
  axis.to = extents[1];
  return axis;
}

/// The windows of the outputs along an axis. `beyond` marks outputs with the extrapolation value.
struct ResizedAxis {
  std::vector<TapWindow> windows;
  Array beyond;  // bool, one for each window
  bool any_beyond = false;
};

ResizedAxis Resized(const WindowResize& resize, const Axis& axis) {
  ResizedAxis resized{.windows = {}, .beyond = Array(DataType::kBool, {axis.to})};
  for (int64_t out = 0; out < axis.to; ++out) {
    double position = InputCoordinate(resize.coordinate, out, axis);
    const bool is_beyond = IsOutside(resize, axis, position);
    if (is_beyond) position = 0;  // the value is replaced later
    resized.windows.push_back(WindowAt(resize, axis, position));
    resized.beyond.SetInt(out, is_beyond ? 1 : 0);
    resized.any_beyond |= is_beyond;
  }
  return resized;
}

/// Returns an estimate of the number of taps along an axis, for all outputs.
double TapsOf(const WindowResize& resize, const Axis& axis) {
  const double taps =
      resize.mode == "nearest" ? 1 : 2 * SupportOf(resize, StretchOf(resize, axis)) + 1;
  return taps * static_cast<double>(axis.to);
}

/// Returns the type in which weighted sums are computed. Mode nearest needs no sums, so the type is
/// unchanged.
DataType SumType(const WindowResize& resize, DataType type) {
  if (resize.mode == "nearest" || type == DataType::kF64) return type;
  return DataType::kF32;
}

}  // namespace

Result<Formula> ResizeByWindows(const Formula& x, const WindowResize& resize) {
  if (!x.ok()) return std::unexpected(x.value().error());
  const NodeContext& node = x.node();
  const OperandShape from = x.shape();
  if (from.size() != resize.shape.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} sizes for rank {}", resize.shape.size(),
                from.size());
  }
  Formula y = x.Cast(SumType(resize, x.type()));
  std::optional<Formula> outside;
  for (size_t d = 0; d < resize.shape.size(); ++d) {
    TUNEC_ASSIGN(const std::optional<Axis> changed, AxisOf(resize, from, d));
    if (!changed) continue;
    const Axis& axis = *changed;
    if (axis.from < 1 || TapsOf(resize, axis) > kMostTaps) {
      return Fail(ErrorCode::kUnsupported, "an axis of {} resized to {} in this way", axis.from,
                  axis.to);
    }
    ResizedAxis resized = Resized(resize, axis);
    y = SumWindows(y, static_cast<int64_t>(d), resized.windows);
    if (!resized.any_beyond) continue;
    std::vector<int64_t> shape(resize.shape.size(), 1);
    shape[d] = axis.to;
    const Formula mask = Constant(node, std::move(resized.beyond)).Reshape(shape);
    outside = outside ? Apply(Op::kOr, {*outside, mask}) : mask;
  }
  if (outside) y = Where(*outside, y.Number(resize.extrapolation), y);
  return y.Cast(x.type());
}

}  // namespace tunec::onnx_import
