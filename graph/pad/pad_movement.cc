// Rules that pad operators whose results are operands' elements at other positions.
#include <algorithm>

#include "graph/pad/padder.h"

namespace tunec::pad {
namespace {

/// Returns the axes of `after` to which the marks `zero_beyond` of `value` apply. Compares axes
/// from the last one, up to the first with different extents.
std::set<size_t> ZeroAtEnd(const PaddedValue& value, const Axes& after) {
  std::set<size_t> zero;
  const size_t both = std::min(value.axes.size(), after.size());
  for (size_t i = 1; i <= both; ++i) {
    const size_t from = value.axes.size() - i, to = after.size() - i;
    if (value.axes[from].extents() != after[to].extents()) break;
    if (value.zero_beyond.contains(from)) zero.insert(to);
  }
  return zero;
}

/// A slice of one axis.
struct AxisSlice {
  SizeExpr start;
  Extents from, to;
  int64_t step = 1;

  bool IsWhole() const { return start == 0 && step == 1 && from == to; }
};

std::vector<AxisSlice> SlicesOf(const PaddedNode& node) {
  const std::vector<SizeExpr> starts = node.Sizes("starts");
  const std::vector<Extents> shape = node.OutputShape();
  std::vector<AxisSlice> slices;
  for (size_t a = 0; a < shape.size(); ++a)
    slices.push_back({.start = starts[a],
                      .from = node.axis(0, a).extents(),
                      .to = shape[a],
                      .step = node.bucket().Ints("steps")[a]});
  return slices;
}

// Gathers the elements of a slice along axis `a`. The start is an input of the padded graph if it
// depends on the sizes.
Result<ValueId> TakeFrom(PaddedNode& node, ValueId value, size_t a, const AxisSlice& slice) {
  GraphBuilder& builder = node.builder();
  TUNEC_ASSIGN(const ValueId first, node.padder().Number(slice.start, DataType::kI64));
  const ValueId steps = CountUp(builder, slice.to.padded, slice.step);
  TUNEC_ASSIGN(const ValueId places, builder.Add(Op::kAdd, {steps, first}));
  return TakeAt(node.padder(), value, a, places);
}

// Slices along the axes that are not in `taken` by the operator itself, then gathers along the axes
// in `taken`. Sets the node's result.
Status SliceAndTake(PaddedNode& node, const std::vector<AxisSlice>& slices,
                    const std::vector<size_t>& taken) {
  Attributes attributes = node.bucket().attributes;
  for (const size_t a : taken) {
    std::get<std::vector<int64_t>>(attributes["starts"])[a] = 0;
    std::get<std::vector<int64_t>>(attributes["ends"])[a] = slices[a].from.padded;
    std::get<std::vector<int64_t>>(attributes["steps"])[a] = 1;
  }
  TUNEC_ASSIGN(ValueId value, node.builder().Add(Op::kSlice, {node.input(0).value},
                                                 std::move(attributes), node.bucket().name));
  for (const size_t a : taken) {
    TUNEC_ASSIGN(value, TakeFrom(node, value, a, slices[a]));
  }
  node.SetResult(value);
  return {};
}

// Removes the padding between the operands of a concatenation. Operand k then begins at the sum of
// the exact extents of the operands before it.
Result<ValueId> WithoutGaps(PaddedNode& node, ValueId value, size_t axis) {
  GraphBuilder& builder = node.builder();
  const ValueId place = CountUp(builder, node.OutputShape()[axis].padded);
  ValueId indices = place;
  Extents before{.padded = 0, .exact = 0};
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (!before.exact.IsConstant()) {
      TUNEC_ASSIGN(const ValueId begin, node.padder().Number(before.exact, DataType::kI64));
      const ValueId lies_at = Whole(builder, before.padded);
      TUNEC_ASSIGN(const ValueId behind, builder.Add(Op::kGe, {place, begin}));
      TUNEC_ASSIGN(const ValueId within, builder.Add(Op::kSub, {place, begin}));
      TUNEC_ASSIGN(const ValueId there, builder.Add(Op::kAdd, {within, lies_at}));
      TUNEC_ASSIGN(indices, builder.Add(Op::kWhere, {behind, there, indices}));
    }
    before.padded += node.axis(i, axis).padded();
    before.exact = before.exact + node.axis(i, axis).exact();
  }
  return TakeAt(node.padder(), value, axis, indices);
}

// Returns true if an operand other than the last is open along the axis, so that padding may
// precede the next operand.
bool HasGaps(const PaddedNode& node, size_t axis) {
  for (size_t i = 0; i + 1 < node.num_inputs(); ++i) {
    if (node.axes(i)[axis].IsOpen()) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<PaddedValue>> PadTranspose(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  Axes axes;
  std::set<size_t> zero;
  for (const int64_t from : node.bucket().Ints("perm")) {
    if (node.input(0).zero_beyond.contains(static_cast<size_t>(from))) zero.insert(axes.size());
    axes.push_back(node.axis(0, static_cast<size_t>(from)));
  }
  return WithAxes(std::move(axes), std::move(zero));
}

Result<std::vector<PaddedValue>> PadReshape(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"shape"}));
  bool is_cut = false;
  std::optional<Axes> axes =
      Regroup(node.axes(0), node.OutputShape(), node.padder().Requires(), is_cut);
  if (!axes) return node.Reject("it puts parts of dimensions together that do not fit");
  if (is_cut) {
    for (const Axis& axis : node.axes(0)) node.padder().Mix(axis);
    for (const Axis& axis : *axes) node.padder().Mix(axis);
  }
  std::set<size_t> zero = ZeroAtEnd(node.input(0), *axes);
  return WithAxes(*std::move(axes), std::move(zero));
}

Result<std::vector<PaddedValue>> PadExpand(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"shape"}));
  const std::vector<Extents> shape = node.OutputShape();
  const Axes& own = node.axes(0);
  const size_t skip = shape.size() - own.size();
  Axes axes;
  for (size_t a = 0; a < shape.size(); ++a) {
    const Axis axis = a < skip ? Axis() : own[a - skip];
    const bool repeats = axis.parts().empty() && shape[a].exact != 1;
    axes.push_back(repeats ? Axis::Repeated(Part{shape[a]}) : axis);
  }
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadSlice(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"starts", "ends"}));
  Axes axes;
  const std::vector<AxisSlice> slices = SlicesOf(node);
  std::vector<size_t> taken;
  for (size_t a = 0; a < slices.size(); ++a) {
    const Axis& axis = node.axis(0, a);
    if (slices[a].IsWhole()) {
      axes.push_back(axis);
      continue;
    }
    if (!axis.IsPrefix()) return node.Reject("it slices an axis of several dimensions");
    axes.push_back(node.NewAxis(a));
    node.padder().Mix(axis);
    const bool is_moved = !slices[a].start.IsConstant() || (axis.IsOpen() && slices[a].step < 0);
    if (is_moved) taken.push_back(a);
  }
  if (!taken.empty()) TUNEC_RETURN_IF_ERROR(SliceAndTake(node, slices, taken));
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadConcat(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const auto along = static_cast<size_t>(node.bucket().Int("axis"));
  Axes axes = node.axes(0);
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    for (size_t a = 0; a < axes.size(); ++a) {
      if (a == along) continue;
      TUNEC_ASSIGN(axes[a], node.UnifyAxes(axes[a], node.axis(i, a)));
    }
    if (!node.axis(i, along).IsPrefix()) return node.Reject("it joins axes of several dimensions");
    node.padder().Mix(node.axis(i, along));
  }
  axes[along] = node.NewAxis(along);
  if (HasGaps(node, along)) {
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < node.num_inputs(); ++i) inputs.push_back(node.input(i).value);
    TUNEC_ASSIGN(const ValueId joined,
                 node.builder().Add(Op::kConcat, std::move(inputs), node.bucket().attributes));
    TUNEC_ASSIGN(const ValueId value, WithoutGaps(node, joined, along));
    node.SetResult(value);
  }
  return WithAxes(std::move(axes));
}

// Repeats of an open axis become a gather: position p has element p mod count.
Result<std::vector<PaddedValue>> PadTile(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"repeats"}));
  const std::vector<SizeExpr> repeats = node.Sizes("repeats");
  const std::vector<Extents> shape = node.OutputShape();
  Axes axes = node.axes(0);
  Attributes attributes = node.bucket().attributes;
  std::vector<size_t> taken;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (repeats[a] == 1) continue;
    if (axes[a].parts().empty()) {
      axes[a] = Axis::Repeated(Part{shape[a]});
      continue;
    }
    if (!axes[a].IsPrefix()) return node.Reject("it repeats an axis of several dimensions");
    node.padder().Mix(axes[a]);
    if (axes[a].IsOpen()) {
      std::get<std::vector<int64_t>>(attributes["repeats"])[a] = 1;
      taken.push_back(a);
    }
    axes[a] = node.NewAxis(a);
  }
  if (taken.empty()) return WithAxes(std::move(axes));
  TUNEC_ASSIGN(ValueId value, node.builder().Add(Op::kTile, {node.input(0).value}, attributes));
  for (const size_t a : taken) {
    TUNEC_ASSIGN(const ValueId count, node.padder().CountOf(node.axis(0, a).exact()));
    const ValueId places = CountUp(node.builder(), shape[a].padded);
    TUNEC_ASSIGN(const ValueId within, node.builder().Add(Op::kMod, {places, count}));
    TUNEC_ASSIGN(value, TakeAt(node.padder(), value, a, within));
  }
  node.SetResult(value);
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
