// The rule for the operator `pad`, and functions that gather elements at computed positions. The
// number of added elements may depend on the sizes, and so may the positions of repeated elements.
#include <algorithm>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// The number of elements added along one axis. A negative number removes elements.
struct Margin {
  SizeExpr begin, end;

  bool IsNone() const { return begin == 0 && end == 0; }
  bool IsFixed() const { return begin.IsConstant() && end.IsConstant(); }
};

/// Returns the position of the element that `mode` repeats at `place`, for an axis of `count`
/// elements. `place` counts from the first element, and may be outside of the axis.
Result<ValueId> Reflected(GraphBuilder& builder, const std::string& mode, ValueId place,
                          ValueId count) {
  const ValueId zero = Whole(builder, 0), one = Whole(builder, 1), two = Whole(builder, 2);
  TUNEC_ASSIGN(const ValueId last, builder.Add(Op::kSub, {count, one}));
  if (mode == "edge") {
    TUNEC_ASSIGN(const ValueId least, builder.Add(Op::kMax, {place, zero}));
    return builder.Add(Op::kMin, {least, last});
  }
  if (mode == "reflect") {
    TUNEC_ASSIGN(const ValueId distance, builder.Add(Op::kAbs, {place}));
    TUNEC_ASSIGN(const ValueId twice, builder.Add(Op::kMul, {last, two}));
    TUNEC_ASSIGN(const ValueId back, builder.Add(Op::kSub, {twice, distance}));
    return builder.Add(Op::kMin, {distance, back});
  }
  // wrap: `place` is at most `count` positions outside
  TUNEC_ASSIGN(const ValueId before, builder.Add(Op::kLt, {place, zero}));
  TUNEC_ASSIGN(const ValueId behind, builder.Add(Op::kGe, {place, count}));
  TUNEC_ASSIGN(const ValueId up, builder.Add(Op::kAdd, {place, count}));
  TUNEC_ASSIGN(const ValueId down, builder.Add(Op::kSub, {place, count}));
  TUNEC_ASSIGN(const ValueId inside, builder.Add(Op::kWhere, {behind, down, place}));
  return builder.Add(Op::kWhere, {before, up, inside});
}

/// Pads `value` along axis `a`, by a gather at computed positions.
Result<ValueId> PadByPlaces(PaddedNode& node, ValueId value, size_t a, const Margin& margin) {
  GraphBuilder& builder = node.builder();
  Padder& padder = node.padder();
  const std::string& mode = node.bucket().String("mode");
  TUNEC_ASSIGN(const ValueId begin, padder.Number(margin.begin, DataType::kI64));
  const int64_t length = node.OutputShape()[a].padded;
  if (mode == "constant") {
    return PutInFrame(padder, PaddedValue{value, node.axes(0), {}},
                      {.axis = a, .begin = begin, .length = length}, node.bucket().Float("value"));
  }
  TUNEC_ASSIGN(const ValueId count, padder.CountOf(node.axis(0, a).exact()));
  TUNEC_ASSIGN(const ValueId place, builder.Add(Op::kSub, {CountUp(builder, length), begin}));
  TUNEC_ASSIGN(const ValueId there, Reflected(builder, mode, place, count));
  return TakeAt(padder, value, a, there);
}

/// Requires that no pads remove elements. Returns false if they do at all sizes.
bool RequireNoCut(PaddedNode& node, const Margin& margin) {
  return node.padder().Require(AtMost(0, margin.begin)) &&
         node.padder().Require(AtMost(0, margin.end));
}

/// Sets the node's result. Pads the axes in `by_places` by PadByPlaces. If `is_rest` is true, first
/// pads the other axes by the operator itself.
Status PadRest(PaddedNode& node, const std::set<size_t>& by_places,
               const std::vector<Margin>& margins, bool is_rest) {
  ValueId value = node.input(0).value;
  if (is_rest) {
    Attributes attributes = node.bucket().attributes;
    auto& pads = std::get<std::vector<int64_t>>(attributes["pads"]);
    for (const size_t a : by_places) pads[a] = pads[pads.size() / 2 + a] = 0;
    TUNEC_ASSIGN(value, node.builder().Add(Op::kPad, {value}, std::move(attributes)));
  }
  for (const size_t a : by_places) {
    TUNEC_ASSIGN(value, PadByPlaces(node, value, a, margins[a]));
  }
  node.SetResult(value);
  return {};
}

}  // namespace

ValueId Whole(GraphBuilder& builder, int64_t value) {
  Array number(DataType::kI64, {});
  number.SetInt(0, value);
  return builder.AddConstant("number", std::move(number));
}

ValueId CountUp(GraphBuilder& builder, int64_t count, int64_t step) {
  Array numbers(DataType::kI64, {count});
  for (int64_t i = 0; i < count; ++i) numbers.SetInt(i, i * step);
  return builder.AddConstant("places", std::move(numbers));
}

Result<ValueId> TakeAt(Padder& padder, ValueId value, size_t axis, ValueId places) {
  GraphBuilder& builder = padder.builder();
  const int64_t extent = builder.TypeOf(value).dims[axis].Value();
  TUNEC_ASSIGN(const ValueId clamped, ClampIndices(builder, places, extent));
  return builder.Add(Op::kGather, {value, clamped}, {{"axis", static_cast<int64_t>(axis)}});
}

Result<ValueId> PutInFrame(Padder& padder, const PaddedValue& value, const Frame& frame,
                           double outside) {
  GraphBuilder& builder = padder.builder();
  const size_t behind = value.axes.size() - 1 - frame.axis;
  TUNEC_ASSIGN(const ValueId place,
               builder.Add(Op::kSub, {CountUp(builder, frame.length), frame.begin}));
  TUNEC_ASSIGN(const ValueId count, padder.CountOf(value.axes[frame.axis].exact()));
  TUNEC_ASSIGN(const ValueId from_first, builder.Add(Op::kGe, {place, Whole(builder, 0)}));
  TUNEC_ASSIGN(const ValueId to_last, builder.Add(Op::kLt, {place, count}));
  TUNEC_ASSIGN(const ValueId inside, builder.Add(Op::kAnd, {from_first, to_last}));
  std::vector<int64_t> shape(behind + 1, 1);
  shape[0] = frame.length;
  TUNEC_ASSIGN(const ValueId across, builder.Add(Op::kReshape, {inside}, {{"shape", shape}}));
  TUNEC_ASSIGN(const ValueId taken, TakeAt(padder, value.value, frame.axis, place));
  const DataType type = builder.TypeOf(taken).type;
  const ValueId other = builder.AddConstant("neutral", ScalarOf(type, outside));
  return builder.Add(Op::kWhere, {across, taken, other});
}

Result<std::vector<PaddedValue>> PadPad(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"pads"}));
  const bool is_constant = node.bucket().String("mode") == "constant";
  const std::vector<SizeExpr> pads = node.Sizes("pads");
  Axes axes = node.axes(0);
  std::vector<Margin> margins;
  std::set<size_t> masked, by_places;
  bool is_rest = false;
  for (size_t a = 0; a < axes.size(); ++a) {
    const Margin& margin = margins.emplace_back(pads[a], pads[axes.size() + a]);
    if (margin.IsNone()) continue;
    const bool is_open = axes[a].IsOpen();
    if (is_open && !axes[a].IsPrefix()) return node.Reject("it pads an axis of several dimensions");
    node.padder().Mix(axes[a]);
    const bool places = is_constant ? !margin.begin.IsConstant() : is_open || !margin.IsFixed();
    if (places && !is_constant && !RequireNoCut(node, margin))
      return node.Reject("it repeats elements of an open dimension, and cuts it");
    if (places) by_places.insert(a);
    if (!places) is_rest = true;
    const bool ends = !node.padder().IsProved(AtMost(margin.end, 0));
    if (!places && is_open && ends) masked.insert(a);
    axes[a] = node.NewAxis(a);
  }
  // `zero_beyond` permits NaN, which the pads must not contain. So these axes are masked, too.
  node.input(0).zero_beyond.clear();
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, masked, node.bucket().Float("value")));
  if (!by_places.empty()) TUNEC_RETURN_IF_ERROR(PadRest(node, by_places, margins, is_rest));
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
