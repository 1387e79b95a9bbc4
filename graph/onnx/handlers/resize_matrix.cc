#include "graph/onnx/handlers/resize_matrix.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tunec::onnx_import {
namespace {

constexpr int64_t kMostElements = 1 << 26;

struct Axis {
  int64_t from = 0;
  int64_t to = 0;
  double scale = 1;
  double begin = 0;  // of the region, 0 to 1
  double end = 1;
};

double InputCoordinate(const std::string& mode, int64_t out, const Axis& axis) {
  const auto x = static_cast<double>(out);
  const auto from = static_cast<double>(axis.from);
  const double to = axis.scale * from;  // before it was rounded down
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners") return axis.to == 1 ? 0 : x * (from - 1) / (to - 1);
  if (mode == "tf_crop_and_resize") {
    const double length = axis.end - axis.begin;
    const double step = axis.to == 1 ? length / 2 : x * length / static_cast<double>(axis.to - 1);
    return (axis.begin + step) * (from - 1);
  }
  if (mode == "pytorch_half_pixel" && axis.to == 1) return 0;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(axis.to) / to;
    return from / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  return (x + 0.5) / axis.scale - 0.5;
}

double RoundNearest(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

/// The filter at a distance: a triangle, or Keys' cubic with parameter a.
double Weight(const MatrixResize& resize, double distance) {
  const double d = std::abs(distance);
  if (resize.mode == "linear") return std::max(0.0, 1 - d);
  const double a = resize.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// One row: the weights of the inputs for the output at x.
void FillRow(const MatrixResize& resize, const Axis& axis, double x, double* row) {
  const auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i, 0, axis.from - 1); };
  if (resize.mode == "nearest") {
    row[clamped(static_cast<int64_t>(RoundNearest(resize.nearest_mode, x)))] = 1;
    return;
  }
  // A filter against aliasing is stretched by as much as the image shrinks.
  const double stretch = resize.antialias ? std::min(axis.scale, 1.0) : 1;
  const double support = (resize.mode == "linear" ? 1 : 2) / stretch;
  const auto first = static_cast<int64_t>(std::floor(x - support)) + 1;
  const auto last = static_cast<int64_t>(std::ceil(x + support)) - 1;
  double total = 0;
  for (int64_t i = first; i <= last; ++i) {
    if (resize.exclude_outside && clamped(i) != i) continue;
    const double weight = Weight(resize, (static_cast<double>(i) - x) * stretch);
    row[clamped(i)] += weight;
    total += weight;
  }
  for (int64_t i = 0; i < axis.from; ++i) row[i] /= total;
}

bool IsOutside(const MatrixResize& resize, const Axis& axis, double x) {
  return resize.coordinate == "tf_crop_and_resize" &&
         (x < 0 || x > static_cast<double>(axis.from - 1));
}

Axis AxisOf(const MatrixResize& resize, const std::vector<int64_t>& shape, size_t d) {
  Axis axis{.from = shape[d], .to = resize.shape[d], .scale = resize.scales[d]};
  if (!resize.roi.empty()) {
    axis.begin = resize.roi[d];
    axis.end = resize.roi[d + shape.size()];
  }
  return axis;
}

/// axis d of x through the matrix [to, from].
Formula Through(const Formula& x, size_t d, const Formula& matrix) {
  std::vector<int64_t> perm = AllAxes(x.rank());
  std::swap(perm[d], perm.back());
  return Apply(Op::kMatmul, {x.Transpose(perm), matrix}, {{"transpose_b", int64_t{1}}})
      .Transpose(perm);
}

}  // namespace

Result<Formula> ResizeByMatrices(const Formula& x, const MatrixResize& resize) {
  if (!x.ok()) return std::unexpected(x.value().error());
  const NodeContext& node = x.node();
  const DataType type = IsFloat(x.type()) ? x.type() : DataType::kF32;
  const std::vector<int64_t> from = x.shape();
  if (from.size() != resize.shape.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} sizes for rank {}", resize.shape.size(),
                from.size());
  }
  Formula y = x.Cast(type);
  std::optional<Formula> outside;
  for (size_t d = 0; d < resize.shape.size(); ++d) {
    const Axis axis = AxisOf(resize, from, d);
    const bool whole = axis.from == axis.to && axis.scale == 1 && axis.begin == 0 && axis.end == 1;
    if (whole) continue;
    if (axis.from > kMostElements / std::max<int64_t>(axis.to, 1)) {
      return Fail(ErrorCode::kUnsupported, "an axis of {} resized to {} in this way", axis.from,
                  axis.to);
    }
    Array matrix(type, {axis.to, axis.from});
    Array beyond(DataType::kBool, {axis.to});
    bool any_beyond = false;
    for (int64_t out = 0; out < axis.to; ++out) {
      const double position = InputCoordinate(resize.coordinate, out, axis);
      std::vector<double> row(static_cast<size_t>(axis.from), 0);
      FillRow(resize, axis, position, row.data());
      for (int64_t i = 0; i < axis.from; ++i) {
        matrix.SetDouble(out * axis.from + i, row[static_cast<size_t>(i)]);
      }
      const bool is_beyond = IsOutside(resize, axis, position);
      beyond.SetInt(out, is_beyond ? 1 : 0);
      any_beyond |= is_beyond;
    }
    y = Through(y, d, Constant(node, std::move(matrix)));
    if (!any_beyond) continue;
    std::vector<int64_t> shape(resize.shape.size(), 1);
    shape[d] = axis.to;
    const Formula mask = Constant(node, std::move(beyond)).Reshape(shape);
    outside = outside ? Apply(Op::kOr, {*outside, mask}) : mask;
  }
  if (outside) y = Where(*outside, y.Number(resize.extrapolation), y);
  return y.Cast(x.type());
}

}  // namespace tunec::onnx_import
