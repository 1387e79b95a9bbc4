// Operators whose elements are operands' elements at other places.
#include <algorithm>

#include "graph/pad/padder.h"

namespace tunec::pad {
namespace {

/// Marks of axes at the end that are the same before and after.
std::set<size_t> ZeroAtEnd(const PaddedValue& value, const Axes& after) {
  std::set<size_t> zero;
  const size_t both = std::min(value.axes.size(), after.size());
  for (size_t i = 1; i <= both; ++i) {
    const size_t from = value.axes.size() - i, to = after.size() - i;
    const Extents a = value.axes[from].extents(), b = after[to].extents();
    if (a.exact != b.exact || a.padded != b.padded) break;
    if (value.zero_beyond.contains(from)) zero.insert(to);
  }
  return zero;
}

/// A slice of one axis in both graphs.
struct AxisSlice {
  int64_t exact_start = 0, start = 0, exact_step = 1, step = 1;
  Extents from, to;

  bool IsWhole() const {
    return start == 0 && exact_start == 0 && step == 1 && exact_step == 1 &&
           from.exact == to.exact && from.padded == to.padded;
  }
  bool StartsAlike() const { return start == exact_start; }
};

AxisSlice SliceOf(const PaddedNode& node, size_t a, const Axis& axis) {
  return {node.exact().Ints("starts")[a],
          node.bucket().Ints("starts")[a],
          node.exact().Ints("steps")[a],
          node.bucket().Ints("steps")[a],
          axis.extents(),
          node.OutputShape()[a]};
}

// Where a slice starts depends on the size: its elements are gathered from a start that is given.
Result<ValueId> TakeFrom(PaddedNode& node, ValueId value, size_t a, const AxisSlice& slice) {
  GraphBuilder& builder = node.builder();
  Array start(DataType::kI64, {});
  start.SetInt(0, slice.exact_start);
  TUNEC_ASSIGN(const ValueId first,
               node.padder().AddValueParameter(fmt::format("{}.start.{}", node.bucket().name, a),
                                               std::move(start)));
  Array steps(DataType::kI64, {slice.to.padded});
  for (int64_t i = 0; i < slice.to.padded; ++i) steps.SetInt(i, i * slice.step);
  TUNEC_ASSIGN(const ValueId indices,
               builder.Add(Op::kAdd, {builder.AddConstant("steps", std::move(steps)), first}));
  TUNEC_ASSIGN(const ValueId clamped, ClampIndices(builder, indices, slice.from.padded));
  return builder.Add(Op::kGather, {value, clamped}, {{"axis", static_cast<int64_t>(a)}});
}

// The slice of the axes whose starts are the same, then the others.
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

// Positions of a concatenation without what lies between the operands' exact ones: operand k begins
// after as many positions as the operands before it have exact ones.
Result<ValueId> WithoutGaps(PaddedNode& node, ValueId value, size_t axis) {
  GraphBuilder& builder = node.builder();
  const int64_t extent = node.OutputShape()[axis].padded;
  Array positions(DataType::kI64, {extent});
  for (int64_t i = 0; i < extent; ++i) positions.SetInt(i, i);
  const ValueId place = builder.AddConstant("places", std::move(positions));
  ValueId indices = place;
  Extents before{0, 0};
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (before.exact != before.padded) {
      Array first(DataType::kI64, {});
      first.SetInt(0, before.exact);
      TUNEC_ASSIGN(const ValueId begin,
                   node.padder().AddValueParameter(
                       fmt::format("{}.begin.{}", node.bucket().name, i), std::move(first)));
      Array offset(DataType::kI64, {});
      offset.SetInt(0, before.padded);
      const ValueId lies_at = builder.AddConstant("offset", std::move(offset));
      TUNEC_ASSIGN(const ValueId behind, builder.Add(Op::kGe, {place, begin}));
      TUNEC_ASSIGN(const ValueId within, builder.Add(Op::kSub, {place, begin}));
      TUNEC_ASSIGN(const ValueId there, builder.Add(Op::kAdd, {within, lies_at}));
      TUNEC_ASSIGN(indices, builder.Add(Op::kWhere, {behind, there, indices}));
    }
    const Extents own = node.axis(i, axis).extents();
    before = {before.exact + own.exact, before.padded + own.padded};
  }
  TUNEC_ASSIGN(const ValueId clamped, ClampIndices(builder, indices, extent));
  return builder.Add(Op::kGather, {value, clamped}, {{"axis", static_cast<int64_t>(axis)}});
}

// Whether an operand follows one that ends with positions that are not exact.
bool HasGaps(const PaddedNode& node, size_t axis) {
  for (size_t i = 0; i + 1 < node.num_inputs(); ++i) {
    if (node.axes(i)[axis].IsOpen()) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<PaddedValue>> PadTranspose(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  Axes axes;
  std::set<size_t> zero;
  for (const int64_t from : node.bucket().Ints("perm")) {
    if (node.input(0).zero_beyond.contains(static_cast<size_t>(from))) zero.insert(axes.size());
    axes.push_back(node.axis(0, static_cast<size_t>(from)));
  }
  return Lies(std::move(axes), std::move(zero));
}

Result<std::vector<PaddedValue>> PadReshape(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"shape"}));
  bool is_cut = false;
  const auto parameter_for = [&](Extents extents) {
    is_cut = true;
    return node.padder().SizeParameterFor(extents);
  };
  std::optional<Axes> axes = Regroup(node.axes(0), node.OutputShape(), parameter_for);
  if (!axes) return node.Refuse("it puts parts of dimensions together that do not fit");
  if (is_cut) {
    for (const Axis& axis : node.axes(0)) node.padder().Mix(axis);
    for (const Axis& axis : *axes) node.padder().Mix(axis);
  }
  std::set<size_t> zero = ZeroAtEnd(node.input(0), *axes);
  return Lies(*std::move(axes), std::move(zero));
}

Result<std::vector<PaddedValue>> PadExpand(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"shape"}));
  const std::vector<Extents> shape = node.OutputShape();
  const Axes& own = node.axes(0);
  const size_t skip = shape.size() - own.size();
  Axes axes;
  for (size_t a = 0; a < shape.size(); ++a) {
    const Extents extents = a < skip ? Extents{} : own[a - skip].extents();
    const bool repeats = extents.padded == 1 && shape[a].padded != 1;
    if (repeats) axes.push_back(Axis::Repeated(node.padder().PartFor(shape[a])));
    if (!repeats) axes.push_back(a < skip ? Axis() : own[a - skip]);
  }
  return Lies(std::move(axes));
}

Result<std::vector<PaddedValue>> PadSlice(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"starts", "ends", "steps"}));
  Axes axes;
  std::vector<AxisSlice> slices;
  std::vector<size_t> taken;
  for (size_t a = 0; a < node.axes(0).size(); ++a) {
    const Axis& axis = node.axis(0, a);
    const AxisSlice slice = slices.emplace_back(SliceOf(node, a, axis));
    if (slice.step != slice.exact_step) return node.Refuse("its steps depend on the sizes");
    axes.push_back(slice.IsWhole() ? axis : node.NewAxis(a));
    if (slice.IsWhole()) continue;
    if (!axis.IsPrefix()) return node.Refuse("it slices an axis of several dimensions");
    node.padder().Mix(axis);
    node.padder().Mix(axes.back());
    if (!slice.StartsAlike() || (axis.IsOpen() && slice.step < 0)) taken.push_back(a);
  }
  if (!taken.empty()) TUNEC_RETURN_IF_ERROR(SliceAndTake(node, slices, taken));
  return Lies(std::move(axes));
}

Result<std::vector<PaddedValue>> PadConcat(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto along = static_cast<size_t>(node.bucket().Int("axis"));
  Axes axes = node.axes(0);
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    for (size_t a = 0; a < axes.size(); ++a) {
      if (a == along) continue;
      TUNEC_ASSIGN(axes[a], node.UnifyAxes(axes[a], node.axis(i, a)));
    }
    if (!node.axis(i, along).IsPrefix()) return node.Refuse("it joins axes of several dimensions");
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
  return Lies(std::move(axes));
}

Result<std::vector<PaddedValue>> PadPad(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"pads"}));
  const std::vector<int64_t>& exact = node.exact().Ints("pads");
  const std::vector<int64_t>& bucket = node.bucket().Ints("pads");
  Axes axes = node.axes(0);
  std::set<size_t> masked;
  for (size_t a = 0; a < axes.size(); ++a) {
    const size_t end = axes.size() + a;
    const bool is_moved = exact[a] != 0 || exact[end] != 0 || bucket[a] != 0 || bucket[end] != 0;
    if (!is_moved) continue;
    if (exact[a] != bucket[a]) return node.Refuse("where it begins depends on the sizes");
    const bool is_open = axes[a].IsOpen();
    if (is_open && (!axes[a].IsPrefix() || node.bucket().String("mode") != "constant"))
      return node.Refuse("it repeats elements along an open dimension");
    if (!is_open && exact[end] != bucket[end])
      return node.Refuse("how much it adds depends on the sizes");
    node.padder().Mix(axes[a]);
    if (exact[end] > 0 || bucket[end] > 0) masked.insert(a);
    axes[a] = node.NewAxis(a);
  }
  // Where a row is NaN so is what softmax left beyond.
  node.input(0).zero_beyond.clear();
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, masked, node.bucket().Float("value")));
  return Lies(std::move(axes));
}

Result<std::vector<PaddedValue>> PadTile(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"repeats"}));
  Axes axes = node.axes(0);
  for (size_t a = 0; a < axes.size(); ++a) {
    const int64_t exact = node.exact().Ints("repeats")[a];
    const int64_t repeats = node.bucket().Ints("repeats")[a];
    if (exact == 1 && repeats == 1) continue;
    const bool is_one = axes[a].extents().padded == 1;
    if (!is_one) TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, a));
    if (!is_one && exact != repeats) return node.Refuse("its repeats depend on the sizes");
    const Extents extents = node.OutputShape()[a];
    axes[a] = is_one ? Axis::Repeated(node.padder().PartFor(extents)) : Axis::Fixed(extents.padded);
  }
  return Lies(std::move(axes));
}

}  // namespace tunec::pad
