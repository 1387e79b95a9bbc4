// The reference execution of resize, which resizes one axis after the other. Each output element is
// a weighted sum of input elements; `nearest` has one input of weight 1.
#include <algorithm>
#include <cmath>

#include "graph/reference/run.h"

namespace tunec::reference {
namespace {

struct Tap {
  int64_t index;
  double weight;
};

struct Axis {
  int64_t from, to;
  double scale;
};

/// Returns the input coordinate of the output index `out`, by ONNX's coordinate transformation
/// `mode`.
double InputCoordinate(const std::string& mode, int64_t out, const Axis& axis) {
  const auto x = static_cast<double>(out);
  const auto from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners") return axis.to == 1 ? 0 : x * (from - 1) / (to - 1);
  if (mode == "pytorch_half_pixel") return axis.to == 1 ? 0 : (x + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = to / (axis.scale * from);
    return from / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  return (x + 0.5) / axis.scale - 0.5;  // mode `half_pixel`
}

// Rounds a coordinate to an integer by ONNX's nearest_mode. A coordinate within 1e-9 of a multiple
// of 1/2 is set to this multiple first, because the difference is taken as a rounding error.
double RoundNearest(const std::string& mode, double x) {
  const double half = std::nearbyint(2 * x) / 2;
  if (std::abs(x - half) < 1e-9) x = half;
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

/// Returns the weight of an element at `distance`, by Keys' cubic convolution kernel with the
/// parameter `a`.
double CubicWeight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

/// Returns the indices and weights of the input elements around the coordinate x. The indices may
/// be outside the input.
std::vector<Tap> TapsAt(const Node& node, double x) {
  const std::string& mode = node.String("mode");
  if (mode == "nearest")
    return {{static_cast<int64_t>(RoundNearest(node.String("nearest_mode"), x)), 1}};
  const double floor = std::floor(x), fraction = x - floor;
  const auto base = static_cast<int64_t>(floor);
  if (mode == "linear") return {{base, 1 - fraction}, {base + 1, fraction}};
  std::vector<Tap> taps;
  for (int64_t k = -1; k <= 2; ++k)
    taps.push_back(
        {base + k, CubicWeight(fraction - static_cast<double>(k), node.Float("cubic_a"))});
  return taps;
}

std::vector<Tap> ClampedTaps(const Node& node, int64_t out, const Axis& axis) {
  std::vector<Tap> taps = TapsAt(node, InputCoordinate(node.String("coordinate"), out, axis));
  const bool exclude = node.Int("exclude_outside") != 0 && node.String("mode") != "nearest";
  double total = 0;
  for (Tap& tap : taps) {
    const int64_t inside = std::clamp<int64_t>(tap.index, 0, axis.from - 1);
    if (exclude && inside != tap.index) tap.weight = 0;
    tap.index = inside;
    total += tap.weight;
  }
  if (exclude)
    for (Tap& tap : taps) tap.weight /= total;
  return taps;
}

/// Returns x with one axis resized. `outer` and `inner` are the products of the extents before and
/// after the axis. T is int64_t for `nearest` of integers, and otherwise double.
template <class T>
std::vector<T> ResizeAxis(const Node& node, const std::vector<T>& x, const Axis& axis,
                          int64_t outer, int64_t inner) {
  const bool copies = node.String("mode") == "nearest";
  std::vector<T> y(static_cast<size_t>(outer * axis.to * inner));
  for (int64_t out = 0; out < axis.to; ++out) {
    const std::vector<Tap> taps = ClampedTaps(node, out, axis);
    for (int64_t o = 0; o < outer; ++o) {
      T* to = y.data() + (o * axis.to + out) * inner;
      for (const Tap& tap : taps) {
        if (tap.weight == 0) continue;  // skipped, because 0 * inf would be NaN
        const T* from = x.data() + (o * axis.from + tap.index) * inner;
        for (int64_t i = 0; i < inner; ++i)
          to[i] = copies ? from[i] : static_cast<T>(to[i] + tap.weight * from[i]);
      }
    }
  }
  return y;
}

template <class T>
std::vector<Array> Resize(const RunContext& context) {
  const Node& node = context.node;
  Array result = context.MakeOutput();
  std::vector<int64_t> shape = context.input(0).shape();
  std::vector<T> x = LoadAll<T>(context.input(0));
  for (size_t a = 0; a < shape.size() && result.size() > 0; ++a) {
    const Axis axis{shape[a], result.shape()[a], node.Floats("scales")[a]};
    if (axis.from == axis.to && axis.scale == 1) continue;
    x = ResizeAxis(node, x, axis, Product(shape, 0, a), Product(shape, a + 1, shape.size()));
    shape[a] = axis.to;
  }
  Store(x.data(), 0, result.size(), result);
  return {std::move(result)};
}

}  // namespace

Outputs RunResize(const RunContext& context) {
  const bool whole = IsInteger(context.input(0).type());
  if (whole && context.node.String("mode") == "nearest") return Resize<int64_t>(context);
  return Resize<double>(context);
}

}  // namespace tunec::reference
