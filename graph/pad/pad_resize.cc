// The rule for the operator `resize`. If an axis has the same factor at all sizes, the coordinates
// are also the same. Then the padding along the axis is filled with the last exact element. If the
// factor is the quotient of two sizes, the coordinates are computed from the sizes as whole
// numbers. So they are rounded as in the exact graph.
#include <cmath>
#include <optional>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// One axis of a resize. Without a scale, the factor is `to / from`, which depends on the sizes.
struct ResizedAxis {
  size_t axis = 0;
  Extents from, to;
  std::optional<double> scale = {};

  bool IsLeftAlone() const { return from == to && scale == 1; }
  /// Returns true if the factor is the quotient of the sizes at all sizes.
  bool IsQuotient() const;
};

/// Returns to / from if it is an integer, or one divided by an integer, at all sizes.
std::optional<double> RatioOf(const SizeExpr& from, const SizeExpr& to) {
  if (from.IsConstant() && to.IsConstant())
    return static_cast<double>(to.Value()) / static_cast<double>(from.Value());
  const std::optional<int64_t> larger = SizeExpr::FloorDiv(to, from).AsConstant();
  if (larger && from * *larger == to) return static_cast<double>(*larger);
  const std::optional<int64_t> smaller = SizeExpr::FloorDiv(from, to).AsConstant();
  if (smaller && to * *smaller == from) return 1 / static_cast<double>(*smaller);
  return std::nullopt;
}

bool ResizedAxis::IsQuotient() const {
  if (!scale) return true;
  const std::optional<double> ratio = RatioOf(from.exact, to.exact);
  return ratio && std::abs(*scale - *ratio) <= 1e-12 * *ratio;
}

std::vector<ResizedAxis> ResizedAxesOf(const PaddedNode& node) {
  const std::vector<Extents> shape = node.OutputShape();
  std::vector<ResizedAxis> axes;
  for (size_t a = 0; a < shape.size(); ++a) {
    ResizedAxis& axis = axes.emplace_back(
        ResizedAxis{.axis = a, .from = node.axis(0, a).extents(), .to = shape[a]});
    axis.scale = node.named().Has("scales") ? std::optional(node.named().Floats("scales")[a])
                                            : RatioOf(axis.from.exact, axis.to.exact);
  }
  return axes;
}

/// Returns true if the coordinate of an element depends only on the element's position and the
/// factor. pytorch_half_pixel has other coordinates for a size of 1, so larger sizes are required.
bool GoesByScale(PaddedNode& node, const ResizedAxis& axis) {
  if (!axis.scale) return false;
  const std::string& coordinate = node.bucket().String("coordinate");
  if (coordinate == "asymmetric" || coordinate == "half_pixel") return true;
  if (coordinate == "pytorch_half_pixel") return node.padder().Require(AtMost(2, axis.to.exact));
  return coordinate == "half_pixel_symmetric" && axis.IsQuotient();
}

/// Returns true if exact results read only exact elements. Then WithLastRepeated is not necessary.
bool StaysInside(const Node& node, const ResizedAxis& axis) {
  if (node.String("mode") != "nearest" || *axis.scale < 1) return false;
  const bool is_whole = *axis.scale == std::round(*axis.scale) && axis.IsQuotient();
  const std::string& rounding = node.String("nearest_mode");
  if (node.String("coordinate") == "asymmetric") return is_whole && rounding == "floor";
  return is_whole && rounding.starts_with("round");
}

/// Returns `value` with the elements beyond the last exact one of axis `a` equal to that element.
Result<ValueId> WithLastRepeated(PaddedNode& node, ValueId value, size_t a) {
  GraphBuilder& builder = node.builder();
  TUNEC_ASSIGN(const ValueId count, node.padder().CountOf(node.axis(0, a).exact()));
  TUNEC_ASSIGN(const ValueId last, builder.Add(Op::kSub, {count, Whole(builder, 1)}));
  const ValueId places = CountUp(builder, node.axis(0, a).padded());
  TUNEC_ASSIGN(const ValueId clamped, builder.Add(Op::kMin, {places, last}));
  return builder.Add(Op::kGather, {value, clamped}, {{"axis", static_cast<int64_t>(a)}});
}

/// A coordinate `over / under` for each position of the result. Both numbers are i64, and `under`
/// is positive.
struct Coordinates {
  ValueId over, under;
  ValueId last;  // position of the last exact element
};

/// Builds nodes of i64 arithmetic. Least returns max(a, b), and Most returns min(a, b).
class Whole64 {
 public:
  explicit Whole64(GraphBuilder& builder) : builder_(builder) {}
  Result<ValueId> Add(ValueId a, ValueId b) { return builder_.Add(Op::kAdd, {a, b}); }
  Result<ValueId> Add(ValueId a, int64_t b) { return Add(a, Whole(builder_, b)); }
  Result<ValueId> Sub(ValueId a, ValueId b) { return builder_.Add(Op::kSub, {a, b}); }
  Result<ValueId> Times(ValueId a, ValueId b) { return builder_.Add(Op::kMul, {a, b}); }
  Result<ValueId> Times(ValueId a, int64_t b) { return Times(a, Whole(builder_, b)); }
  Result<ValueId> Least(ValueId a, int64_t b) {
    return builder_.Add(Op::kMax, {a, Whole(builder_, b)});
  }
  Result<ValueId> Most(ValueId a, ValueId b) { return builder_.Add(Op::kMin, {a, b}); }
  /// Returns a / b, rounded down. A negative `a` becomes 0: its coordinate is before the first
  /// element.
  Result<ValueId> Quotient(ValueId a, ValueId b) {
    TUNEC_ASSIGN(const ValueId least, Least(a, 0));
    return builder_.Add(Op::kDiv, {least, b});
  }

 private:
  GraphBuilder& builder_;
};

Result<Coordinates> CoordinatesOf(PaddedNode& node, const ResizedAxis& axis, ValueId to) {
  GraphBuilder& builder = node.builder();
  Whole64 whole(builder);
  const std::string& coordinate = node.bucket().String("coordinate");
  const ValueId places = CountUp(builder, axis.to.padded);
  TUNEC_ASSIGN(const ValueId from, node.padder().CountOf(axis.from.exact));
  Coordinates result;
  TUNEC_ASSIGN(result.last, whole.Add(from, -1));
  if (coordinate == "asymmetric") {
    TUNEC_ASSIGN(result.over, whole.Times(places, from));
    result.under = to;
  } else if (coordinate == "align_corners") {
    TUNEC_ASSIGN(result.over, whole.Times(places, result.last));
    TUNEC_ASSIGN(const ValueId steps, whole.Add(to, -1));
    TUNEC_ASSIGN(result.under, whole.Least(steps, 1));
  } else {  // (place + 1/2) * from / to - 1/2
    TUNEC_ASSIGN(const ValueId twice, whole.Times(places, 2));
    TUNEC_ASSIGN(const ValueId odd, whole.Add(twice, 1));
    TUNEC_ASSIGN(const ValueId scaled, whole.Times(odd, from));
    TUNEC_ASSIGN(result.over, whole.Sub(scaled, to));
    TUNEC_ASSIGN(result.under, whole.Times(to, 2));
  }
  return result;
}

/// Returns the position of the nearest element for each coordinate.
Result<ValueId> Nearest(PaddedNode& node, const Coordinates& at) {
  Whole64 whole(node.builder());
  const std::string& rounding = node.bucket().String("nearest_mode");
  TUNEC_ASSIGN(const ValueId twice, whole.Times(at.under, 2));
  TUNEC_ASSIGN(const ValueId double_over, whole.Times(at.over, 2));
  ValueId over = at.over, under = at.under;
  if (rounding == "ceil") {  // floor((over + under - 1) / under)
    TUNEC_ASSIGN(over, whole.Add(over, under));
    TUNEC_ASSIGN(over, whole.Add(over, -1));
  } else if (rounding != "floor") {  // floor((2 over + under) / 2 under)
    TUNEC_ASSIGN(over, whole.Add(double_over, under));
    if (rounding == "round_prefer_floor") {  // rounds halves down
      TUNEC_ASSIGN(over, whole.Add(over, -1));
    }
    under = twice;
  }
  TUNEC_ASSIGN(const ValueId place, whole.Quotient(over, under));
  return whole.Most(place, at.last);
}

/// Interpolates linearly between the two elements next to each coordinate.
Result<ValueId> Linear(PaddedNode& node, ValueId value, size_t a, const Coordinates& at) {
  GraphBuilder& builder = node.builder();
  Whole64 whole(builder);
  const DataType type = builder.TypeOf(value).type;
  const DataType wide = SizeOf(type) == 2 ? DataType::kF32 : type;
  TUNEC_ASSIGN(const ValueId over, whole.Least(at.over, 0));
  TUNEC_ASSIGN(const ValueId before, whole.Quotient(over, at.under));
  TUNEC_ASSIGN(const ValueId whole_part, whole.Times(before, at.under));
  TUNEC_ASSIGN(const ValueId rest, whole.Sub(over, whole_part));
  TUNEC_ASSIGN(const ValueId numerator, node.CastTo(rest, wide));
  TUNEC_ASSIGN(const ValueId denominator, node.CastTo(at.under, wide));
  TUNEC_ASSIGN(ValueId share, builder.Add(Op::kDiv, {numerator, denominator}));
  std::vector<int64_t> across(node.axes(0).size() - a, 1);
  across[0] = builder.TypeOf(share).dims[0].Value();
  TUNEC_ASSIGN(share, builder.Add(Op::kReshape, {share}, {{"shape", across}}));
  const auto taken = [&](ValueId place) -> Result<ValueId> {
    TUNEC_ASSIGN(const ValueId inside, whole.Most(place, at.last));
    TUNEC_ASSIGN(const ValueId elements, TakeAt(node.padder(), value, a, inside));
    return node.CastTo(elements, wide);
  };
  TUNEC_ASSIGN(const ValueId next, whole.Add(before, 1));
  TUNEC_ASSIGN(const ValueId low, taken(before));
  TUNEC_ASSIGN(const ValueId high, taken(next));
  TUNEC_ASSIGN(const ValueId other,
               builder.Add(Op::kSub, {builder.AddConstant("one", ScalarOf(wide, 1)), share}));
  TUNEC_ASSIGN(const ValueId of_low, builder.Add(Op::kMul, {low, other}));
  TUNEC_ASSIGN(const ValueId of_high, builder.Add(Op::kMul, {high, share}));
  TUNEC_ASSIGN(const ValueId both, builder.Add(Op::kAdd, {of_low, of_high}));
  // A share of 0 gives the low element: 0 times an infinite high element would be NaN.
  const ValueId zero = builder.AddConstant("zero", ScalarOf(wide, 0));
  TUNEC_ASSIGN(const ValueId is_low, builder.Add(Op::kEq, {share, zero}));
  TUNEC_ASSIGN(const ValueId result, builder.Add(Op::kWhere, {is_low, low, both}));
  return node.CastTo(result, type);
}

Result<ValueId> ResizeByPlaces(PaddedNode& node, ValueId value, const ResizedAxis& axis,
                               ValueId to) {
  TUNEC_ASSIGN(const Coordinates at, CoordinatesOf(node, axis, to));
  if (node.bucket().String("mode") == "linear") return Linear(node, value, axis.axis, at);
  TUNEC_ASSIGN(const ValueId place, Nearest(node, at));
  return TakeAt(node.padder(), value, axis.axis, place);
}

Status RequireComputable(PaddedNode& node, const ResizedAxis& axis) {
  const Node& resize = node.bucket();
  const bool by_corners = resize.String("coordinate") == "align_corners";
  if (!axis.IsQuotient() && !by_corners) return node.Reject("its factor is not that of the sizes");
  if (resize.String("mode") == "cubic")
    return node.Reject("its elements are cubic sums by a factor that depends on the sizes");
  const bool is_float = IsFloat(node.builder().TypeOf(node.input(0).value).type);
  if (resize.String("mode") == "linear" && !is_float)
    return node.Reject("it is linear in integers");
  const bool has_one = resize.String("coordinate") == "pytorch_half_pixel" &&
                       !node.padder().Require(AtMost(2, axis.to.exact));
  if (has_one) return node.Reject("its coordinates are others for a size of 1");
  return {};
}

/// Resizes `value` by the operator itself along all axes that are not in `by_places`. The axes in
/// `by_places` keep their extents.
Result<ValueId> ResizeRest(PaddedNode& node, ValueId value,
                           const std::vector<ResizedAxis>& by_places) {
  Attributes attributes = node.bucket().attributes;
  for (const ResizedAxis& axis : by_places) {
    std::get<std::vector<int64_t>>(attributes["shape"])[axis.axis] = axis.from.padded;
    std::get<std::vector<double>>(attributes["scales"])[axis.axis] = 1;
  }
  return node.builder().Add(Op::kResize, {value}, std::move(attributes), node.bucket().name);
}

}  // namespace

Result<std::vector<PaddedValue>> PadResize(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"shape", "scales"}));
  Axes axes = node.axes(0);
  std::vector<ResizedAxis> by_places;
  ValueId value = node.input(0).value;
  bool is_rest = false;
  for (const ResizedAxis& axis : ResizedAxesOf(node)) {
    if (axis.IsLeftAlone()) continue;
    const Axis from = axes[axis.axis];
    const bool is_fixed = !from.IsOpen() && axis.to.exact.IsConstant() && axis.scale;
    const bool by_scale = is_fixed || GoesByScale(node, axis);
    if (!from.IsPrefix()) return node.Reject("it resizes an axis of several dimensions");
    if (from.IsOpen() && node.bucket().Int("exclude_outside") != 0 &&
        node.bucket().String("mode") == "cubic")
      return node.Reject("it leaves out what is outside of an open dimension");
    if (!by_scale) {
      TUNEC_RETURN_IF_ERROR(RequireComputable(node, axis));
      by_places.push_back(axis);
    }
    node.padder().Mix(from);
    is_rest = is_rest || by_scale;
    if (by_scale && from.IsOpen() && !StaysInside(node.bucket(), axis)) {
      TUNEC_ASSIGN(value, WithLastRepeated(node, value, axis.axis));
    }
    axes[axis.axis] = node.NewAxis(axis.axis);
  }
  if (is_rest) {
    TUNEC_ASSIGN(value, ResizeRest(node, value, by_places));
  }
  for (const ResizedAxis& axis : by_places) {
    TUNEC_ASSIGN(const ValueId to, node.padder().CountOf(axis.to.exact));
    TUNEC_ASSIGN(value, ResizeByPlaces(node, value, axis, to));
  }
  if (is_rest || !by_places.empty()) node.SetResult(value);
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
