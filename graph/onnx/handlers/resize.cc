// The handler of Resize and of its predecessor Upsample.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "graph/onnx/handlers/handlers.h"
#include "graph/onnx/handlers/resize_windows.h"
#include "graph/ops/scale_fraction.h"
#include "ir/size/size_text.h"

namespace tunec::onnx_import {
namespace {

/// Output sizes and the scales that map coordinates, one of each per axis. There are no scales if
/// they are quotients of named sizes.
struct Target {
  std::vector<Dim> shape;
  std::vector<double> scales;

  bool HasScaleBelowOne() const {
    return std::ranges::any_of(scales, [](double scale) { return scale < 1; });
  }
};

constexpr double kMostSize = 1 << 24;

/// Returns the size of an axis times a factor, rounded down. ONNX multiplies in float32, where
/// 10 * 1.3 is 13.
float ScaledSize(int64_t size, double scale) {
  return std::floor(static_cast<float>(size) * static_cast<float>(scale));
}

/// Returns a named size times a factor, rounded down. Fails with kUnsupported unless the factor is
/// exactly a small fraction, for which ONNX's product in float32 is exact, too.
Result<Dim> ScaledDim(const Dim& size, double scale, const std::optional<Fraction>& fraction) {
  const bool is_exact = fraction && fraction->Value() == scale &&
                        std::has_single_bit(static_cast<uint64_t>(fraction->denominator));
  if (scale > 0 && is_exact)
    return Dim::FloorDiv(size * fraction->numerator, fraction->denominator);
  return Fail(ErrorCode::kUnsupported, "the size {} times {}, expected a number", Print(size),
              scale);
}

/// Returns sizes and scales. A scale close to a fraction of small integers becomes this fraction,
/// so that the rounding of the scale to float32 does not select a different element.
Result<Target> FromScales(const Operand& x, const std::vector<double>& scales) {
  if (scales.size() != x->shape.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} scales, expected {}", scales.size(),
                x->shape.size());
  }
  Target target;
  for (size_t i = 0; i < scales.size(); ++i) {
    const std::optional<Fraction> fraction = FractionOfScale(scales[i]);
    target.scales.push_back(fraction ? fraction->Value() : scales[i]);
    const Dim& from = x->shape.list()[i];
    if (!from.IsConstant()) {
      TUNEC_ASSIGN(target.shape.emplace_back(), ScaledDim(from, scales[i], fraction));
      continue;
    }
    const float size = ScaledSize(from.Value(), scales[i]);
    if (!(scales[i] > 0) || !(size <= kMostSize)) {
      return Fail(ErrorCode::kInvalidArgument, "scale {} of axis {} is out of range", scales[i], i);
    }
    target.shape.emplace_back(static_cast<int64_t>(size));
  }
  return target;
}

/// Returns the factor by which an axis changes, or nullopt if it depends on named sizes.
std::optional<double> ScaleOf(const Dim& from, const Dim& size) {
  if (from.IsConstant() && size.IsConstant())
    return static_cast<double>(size.Value()) / static_cast<double>(from.Value());
  const Dim scale = Dim::FloorDiv(size, from);
  if (!scale.IsConstant() || scale.Value() < 1 || from * scale != size) return std::nullopt;
  return static_cast<double>(scale.Value());
}

/// Returns sizes, and scales if no scale depends on named sizes. The policy not_larger gives all
/// `axes` the smallest of their scales, and the policy not_smaller the largest.
Result<Target> FromSizes(const NodeContext& node, const Operand& x,
                         const std::vector<int64_t>& axes, const std::vector<Dim>& sizes,
                         const std::string& policy) {
  if (sizes.size() != axes.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} sizes, expected {}", sizes.size(), axes.size());
  }
  Target target{x->shape, std::vector<double>(x->shape.size(), 1)};
  std::optional<double> common;
  bool has_scales = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    const Dim& extent = x->shape.list()[axis];
    const int64_t size = sizes[i].AsConstant().value_or(1);
    if (size < 1 || static_cast<double>(size) > kMostSize || extent.AsConstant().value_or(1) < 1) {
      return Fail(ErrorCode::kInvalidArgument, "size {} of axis {} is out of range",
                  Print(sizes[i]), axis);
    }
    if (policy != "stretch") TUNEC_RETURN_IF_ERROR(NodeContext::Numbers({extent, sizes[i]}));
    const std::optional<double> scale = ScaleOf(extent, sizes[i]);
    target.shape[axis] = sizes[i];
    target.scales[axis] = scale.value_or(1);
    has_scales = has_scales && scale.has_value();
    if (policy == "not_larger") common = std::min(common.value_or(*scale), *scale);
    if (policy == "not_smaller") common = std::max(common.value_or(*scale), *scale);
  }
  for (size_t i = 0; common && i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    TUNEC_ASSIGN(const int64_t extent, node.Extent(x, axes[i]));
    const double size = static_cast<double>(extent) * *common;
    target.scales[axis] = *common;
    target.shape[axis] = static_cast<int64_t>(std::floor(size + 0.5));
  }
  if (!has_scales) target.scales.clear();
  return target;
}

std::vector<double> ToFloats(const Array& array) {
  std::vector<double> values;
  for (int64_t i = 0; i < array.size(); ++i) values.push_back(array.GetDouble(i));
  return values;
}

/// Returns Upsample's target. Before opset 9, `scales` is an attribute, not an input.
Result<Target> UpsampleTarget(const NodeContext& node, const Operand& x) {
  if (node.HasAttribute("scales")) {
    TUNEC_ASSIGN(const std::vector<double> scales, node.Floats("scales"));
    return FromScales(x, scales);
  }
  TUNEC_ASSIGN(const Array scales, node.ConstantInput(1));
  return FromScales(x, ToFloats(scales));
}

Result<std::vector<int64_t>> ResizedAxes(const NodeContext& node, const Operand& x) {
  TUNEC_ASSIGN(std::vector<int64_t> axes, node.Ints("axes", AllAxes(x->rank())));
  for (int64_t& axis : axes) {
    TUNEC_ASSIGN(axis, NormalizeAxis(axis, x->rank()));
  }
  return axes;
}

/// Returns Resize's target. Inputs are x, scales in opset 10, and x, roi, scales, sizes from opset
/// 11. `axes` exists from opset 18.
Result<Target> ResizeTarget(const NodeContext& node, const Operand& x) {
  TUNEC_ASSIGN(const std::vector<int64_t> axes, ResizedAxes(node, x));
  TUNEC_ASSIGN(const std::string policy,
               node.Choice("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}));
  const size_t scales_input = node.version() < 11 ? 1 : 2;
  std::vector<double> given;
  if (node.HasInput(scales_input)) {
    TUNEC_ASSIGN(const Array scales, node.ConstantInput(scales_input));
    given = ToFloats(scales);
  }
  if (given.empty()) {  // exporters write an empty tensor if sizes are given
    TUNEC_ASSIGN(const std::vector<Dim> sizes, node.Sizes(3));
    return FromSizes(node, x, axes, sizes, policy);
  }
  if (given.size() != axes.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} scales, expected {}", given.size(), axes.size());
  }
  std::vector<double> scales(x->shape.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) scales[static_cast<size_t>(axes[i])] = given[i];
  return FromScales(x, scales);
}

/// Returns the attributes of the operator `resize`. Upsample, and Resize before opset 11, have no
/// attributes for coordinates and for the nearest element.
Result<Attributes> Manner(const NodeContext& node, const Target& target) {
  const bool chooses = node.version() >= 11 && node.node().op_type == "Resize";
  TUNEC_ASSIGN(std::string mode, node.Choice("mode", {"nearest", "linear", "cubic", "bilinear"}));
  if (mode == "bilinear") mode = "linear";  // Upsample's name of the mode
  TUNEC_ASSIGN(
      std::string coordinate,
      node.Choice("coordinate_transformation_mode",
                  {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                   "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
  TUNEC_ASSIGN(
      std::string nearest,
      node.Choice("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  if (!chooses) {
    coordinate = "asymmetric";
    nearest = target.HasScaleBelowOne() ? "ceil" : "floor";
  }
  TUNEC_ASSIGN(const double cubic, node.Float("cubic_coeff_a", -0.75));
  if (!std::isfinite(cubic))
    return Fail(ErrorCode::kInvalidArgument, "cubic_coeff_a is {}, expected a finite number",
                cubic);
  TUNEC_ASSIGN(const int64_t exclude, node.Int("exclude_outside", 0));
  Attributes manner{{"shape", SizesAttribute(target.shape)},
                    {"mode", mode},
                    {"coordinate", coordinate},
                    {"nearest_mode", nearest},
                    {"cubic_a", cubic},
                    {"exclude_outside", exclude}};
  if (!target.scales.empty()) manner.emplace("scales", target.scales);
  return manner;
}

Result<WindowResize> ReadWindowResize(const NodeContext& node, const Operand& x,
                                      const Target& target, const Attributes& manner) {
  const auto text = [&](std::string_view name) {
    return std::get<std::string>(manner.find(name)->second);
  };
  if (target.scales.empty()) {
    return Fail(ErrorCode::kUnsupported, "{}, and its scales depend on named sizes",
                node.Describe(x));
  }
  WindowResize resize{
      .shape = target.shape,
      .scales = target.scales,
      .mode = text("mode"),
      .nearest_mode = text("nearest_mode"),
      .coordinate = text("coordinate"),
      .cubic_a = std::get<double>(manner.find("cubic_a")->second),
      .exclude_outside = std::get<int64_t>(manner.find("exclude_outside")->second) != 0,
      .roi = {}};
  TUNEC_ASSIGN(resize.extrapolation, node.Float("extrapolation_value", 0));
  if (resize.coordinate != "tf_crop_and_resize") return resize;
  TUNEC_ASSIGN(const std::vector<int64_t> axes, ResizedAxes(node, x));
  TUNEC_ASSIGN(const Array roi, node.ConstantInput(1));
  if (roi.size() != 2 * static_cast<int64_t>(axes.size())) {
    return Fail(ErrorCode::kInvalidArgument, "roi has {} elements for {} axes", roi.size(),
                axes.size());
  }
  resize.roi.assign(x->shape.size(), 0);
  resize.roi.resize(2 * x->shape.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    resize.roi[axis] = roi.GetDouble(static_cast<int64_t>(i));
    resize.roi[axis + x->shape.size()] = roi.GetDouble(static_cast<int64_t>(i + axes.size()));
  }
  return resize;
}

Result<Operands> Resize(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Target target,
               node.node().op_type == "Upsample" ? UpsampleTarget(node, x) : ResizeTarget(node, x));
  TUNEC_ASSIGN(const int64_t antialias, node.Int("antialias", 0));
  const bool may_shrink = target.scales.empty() || target.HasScaleBelowOne();
  TUNEC_ASSIGN(Attributes attributes, Manner(node, target));
  const std::string& mode = std::get<std::string>(attributes.at("mode"));
  const bool excludes = mode == "cubic" && std::get<int64_t>(attributes.at("exclude_outside")) != 0;
  const bool crops = std::get<std::string>(attributes.at("coordinate")) == "tf_crop_and_resize";
  if (crops || excludes || (antialias != 0 && may_shrink && mode != "nearest")) {
    TUNEC_ASSIGN(WindowResize resize, ReadWindowResize(node, x, target, attributes));
    resize.antialias = antialias != 0;
    TUNEC_ASSIGN(const Formula y, ResizeByWindows(Formula(node, x), resize));
    return Results({y});
  }
  if (target.shape == x->shape.list() &&
      std::ranges::all_of(target.scales, [](double scale) { return scale == 1; })) {
    return Operands{x};
  }
  return One(node.Emit(op, {x}, std::move(attributes)));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Resize", 10, Resize, Op::kResize},
    {"Upsample", 7, Resize, Op::kResize},
});

}  // namespace

std::span<const Handler> ResizeHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
