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
    const Extents a = value.axes[from].extents(), b = after[to].extents();
    if (a.exact != b.exact || a.padded != b.padded) break;
    if (value.zero_beyond.contains(from)) zero.insert(to);
  }
  return zero;
}

/// A slice of one axis in all graphs.
struct AxisSlice {
  Series starts, from, to;
  int64_t step = 1;

  bool IsWhole() const { return !Varies(starts) && starts[0] == 0 && step == 1 && from == to; }
};

AxisSlice SliceOf(const PaddedNode& node, size_t a) {
  return {.starts = node.Entries("starts", a),
          .from = node.InputSeries(0, a),
          .to = node.OutputSeries(a),
          .step = node.bucket().Ints("steps")[a]};
}

/// Returns how many elements the slice takes from an axis of `size`; empty if no form holds in all
/// graphs. The forms are a slice up to the end, `size` plus a constant, and the size divided by
/// |step|, or by 2 if |step| is 1.
SizeExpression TakenOf(PaddedNode& node, const AxisSlice& slice, const SizeExpression& size) {
  if (slice.step > 0 && !Varies(slice.starts)) {
    const SizeExpression to_end = size.Plus(slice.step - 1 - slice.starts[0]).Over(slice.step);
    if (!node.padder().Explain(slice.to, to_end).empty()) return to_end;
  }
  SizeExpression less = node.padder().Explain(slice.to, {}, std::span(&size, 1));
  if (!less.empty()) return less;
  const int64_t parts = std::abs(slice.step) > 1 ? std::abs(slice.step) : 2;
  return node.padder().Quotient(size, parts, slice.to);
}

// Gathers the elements of a slice along axis `a`. The start is an input of the padded graph if it
// depends on the sizes.
Result<ValueId> TakeFrom(PaddedNode& node, ValueId value, size_t a, const AxisSlice& slice) {
  GraphBuilder& builder = node.builder();
  Padder& padder = node.padder();
  const SizeExpression size = padder.FormulaOf(node.axis(0, a));
  const SizeExpression less = padder.Explain(slice.starts, {}, std::span(&size, 1));
  TUNEC_ASSIGN(const ValueId first,
               padder.AddNumber(fmt::format("{}.start.{}", node.bucket().name, a), slice.starts,
                                less.empty() ? padder.Quotient(size, 2, slice.starts) : less));
  const ValueId steps = CountUp(builder, slice.to[1], slice.step);
  TUNEC_ASSIGN(const ValueId places, builder.Add(Op::kAdd, {steps, first}));
  return TakeAt(padder, value, a, places);
}

// Slices along the axes that are not in `taken` by the operator itself, then gathers along the axes
// in `taken`. Sets the node's result.
Status SliceAndTake(PaddedNode& node, const std::vector<AxisSlice>& slices,
                    const std::vector<size_t>& taken) {
  Attributes attributes = node.bucket().attributes;
  for (const size_t a : taken) {
    std::get<std::vector<int64_t>>(attributes["starts"])[a] = 0;
    std::get<std::vector<int64_t>>(attributes["ends"])[a] = slices[a].from[1];
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
  Series before(node.padder().graphs().size(), 0);
  SizeExpression formula = SizeExpression::Constant(0);
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (Varies(before)) {
      TUNEC_ASSIGN(const ValueId begin,
                   node.padder().AddNumber(fmt::format("{}.begin.{}", node.bucket().name, i),
                                           before, formula));
      const ValueId lies_at = Whole(builder, before[1]);
      TUNEC_ASSIGN(const ValueId behind, builder.Add(Op::kGe, {place, begin}));
      TUNEC_ASSIGN(const ValueId within, builder.Add(Op::kSub, {place, begin}));
      TUNEC_ASSIGN(const ValueId there, builder.Add(Op::kAdd, {within, lies_at}));
      TUNEC_ASSIGN(indices, builder.Add(Op::kWhere, {behind, there, indices}));
    }
    const Series own = node.InputSeries(i, axis);
    for (size_t g = 0; g < own.size(); ++g) before[g] += own[g];
    formula = formula.Plus(node.padder().FormulaOf(node.axis(i, axis)));
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
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  Axes axes;
  std::set<size_t> zero;
  for (const int64_t from : node.bucket().Ints("perm")) {
    if (node.input(0).zero_beyond.contains(static_cast<size_t>(from))) zero.insert(axes.size());
    axes.push_back(node.axis(0, static_cast<size_t>(from)));
  }
  return WithAxes(std::move(axes), std::move(zero));
}

Result<std::vector<PaddedValue>> PadReshape(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"shape"}));
  bool is_cut = false;
  const auto parameter_for = [&](const Part& from, int64_t fast) {
    is_cut = true;
    const Axis whole({from});
    Series series = node.padder().SeriesOf(whole);
    for (int64_t& extent : series) extent /= fast;
    return node.padder().SizeParameterFor(series, node.padder().FormulaOf(whole).Over(fast));
  };
  std::optional<Axes> axes = Regroup(node.axes(0), node.OutputShape(), parameter_for);
  if (!axes) return node.Reject("it puts parts of dimensions together that do not fit");
  if (is_cut) {
    for (const Axis& axis : node.axes(0)) node.padder().Mix(axis);
    for (const Axis& axis : *axes) node.padder().Mix(axis);
  }
  std::set<size_t> zero = ZeroAtEnd(node.input(0), *axes);
  return WithAxes(*std::move(axes), std::move(zero));
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
    if (repeats) axes.push_back(Axis::Repeated(node.padder().PartFor(node.OutputSeries(a))));
    if (!repeats) axes.push_back(a < skip ? Axis() : own[a - skip]);
  }
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadSlice(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"starts", "ends", "steps"}));
  Axes axes;
  std::vector<AxisSlice> slices;
  std::vector<size_t> taken;
  for (size_t a = 0; a < node.axes(0).size(); ++a) {
    const Axis& axis = node.axis(0, a);
    const AxisSlice slice = slices.emplace_back(SliceOf(node, a));
    if (Varies(node.Entries("steps", a))) return node.Reject("its steps depend on the sizes");
    if (slice.IsWhole()) {
      axes.push_back(axis);
      continue;
    }
    if (!axis.IsPrefix()) return node.Reject("it slices an axis of several dimensions");
    axes.push_back(node.NewAxis(a, TakenOf(node, slice, node.padder().FormulaOf(axis))));
    node.padder().Mix(axis);
    if (Varies(slice.starts) || (axis.IsOpen() && slice.step < 0)) taken.push_back(a);
  }
  if (!taken.empty()) TUNEC_RETURN_IF_ERROR(SliceAndTake(node, slices, taken));
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadConcat(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto along = static_cast<size_t>(node.bucket().Int("axis"));
  Axes axes = node.axes(0);
  SizeExpression whole = SizeExpression::Constant(0);
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    for (size_t a = 0; a < axes.size(); ++a) {
      if (a == along) continue;
      TUNEC_ASSIGN(axes[a], node.UnifyAxes(axes[a], node.axis(i, a)));
    }
    if (!node.axis(i, along).IsPrefix()) return node.Reject("it joins axes of several dimensions");
    node.padder().Mix(node.axis(i, along));
    whole = whole.Plus(node.padder().FormulaOf(node.axis(i, along)));
  }
  axes[along] = node.NewAxis(along, whole);
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

Result<std::vector<PaddedValue>> PadTile(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"repeats"}));
  Axes axes = node.axes(0);
  Attributes attributes = node.bucket().attributes;
  std::vector<size_t> taken;
  for (size_t a = 0; a < axes.size(); ++a) {
    const Series repeats = node.Entries("repeats", a);
    if (!Varies(repeats) && repeats[0] == 1) continue;
    const bool is_one = axes[a].extents().padded == 1;
    if (!is_one && Varies(repeats)) return node.Reject("its repeats depend on the sizes");
    if (is_one) {
      axes[a] = Axis::Repeated(node.padder().PartFor(node.OutputSeries(a)));
      continue;
    }
    if (!axes[a].IsOpen()) {
      axes[a] = Axis::Fixed(node.OutputShape()[a].padded);
      continue;
    }
    if (!axes[a].IsPrefix()) return node.Reject("it repeats an axis of several dimensions");
    node.padder().Mix(axes[a]);
    axes[a] = node.NewAxis(a, node.padder().FormulaOf(axes[a]).Times(repeats[0]));
    std::get<std::vector<int64_t>>(attributes["repeats"])[a] = 1;
    taken.push_back(a);
  }
  if (taken.empty()) return WithAxes(std::move(axes));
  TUNEC_ASSIGN(ValueId value, node.builder().Add(Op::kTile, {node.input(0).value}, attributes));
  for (const size_t a : taken) {  // position p has element p mod count
    TUNEC_ASSIGN(const ValueId count, node.padder().CountOf(node.axis(0, a)));
    const ValueId places = CountUp(node.builder(), node.OutputShape()[a].padded);
    TUNEC_ASSIGN(const ValueId within, node.builder().Add(Op::kMod, {places, count}));
    TUNEC_ASSIGN(value, TakeAt(node.padder(), value, a, within));
  }
  node.SetResult(value);
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
