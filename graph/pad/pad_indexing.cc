// Rules that pad gathers, one_hot, range and rotary embeddings, and a function that clamps indices.
#include "graph/pad/exact_numbers.h"
#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

// Replaces computed indices at positions that are not exact by 0. The elements gathered there are
// not used, but the executable would count such an index if it were out of range.
Status LookUpFirstBeyond(PaddedNode& node) {
  if (!node.padder().IsComputed(node.bucket().inputs[1])) return {};
  TUNEC_ASSIGN(const ValueId indices, node.padder().ZeroBeyond(node.input(1)));
  node.SetInput(1, indices);
  return {};
}

// Converts the node's indices to positions in the open axis `axis` of operand 0, and marks this
// axis as mixed. Negative indices count from the exact end. Indices out of range are clamped to the
// exact range. If the axis is fixed, only calls LookUpFirstBeyond.
Status CountFromExactEnd(PaddedNode& node, size_t axis) {
  const Axis& along = node.axis(0, axis);
  if (!along.IsOpen()) return LookUpFirstBeyond(node);
  node.padder().Mix(along);
  if (along.IsPrefix() && CountFromStart(node, 1, node.padder().SeriesOf(along))) return {};
  TUNEC_ASSIGN(const ExactNumbers numbers, CountExact(node, 1, along));
  GraphBuilder& builder = node.builder();
  TUNEC_ASSIGN(const ValueId last, builder.Add(Op::kSub, {numbers.total, numbers.one}));
  TUNEC_ASSIGN(const ValueId least, builder.Add(Op::kMax, {numbers.indices, numbers.zero}));
  TUNEC_ASSIGN(const ValueId clamped, builder.Add(Op::kMin, {least, last}));
  TUNEC_ASSIGN(const ValueId places, Embed(node, clamped, along, numbers.extents));
  node.SetInput(1, places);
  return {};
}

}  // namespace

Result<ValueId> ClampIndices(GraphBuilder& builder, ValueId indices, int64_t extent) {
  const DataType type = builder.TypeOf(indices).type;
  const ValueId zero = builder.AddConstant("zero", ScalarOf(type, 0));
  const ValueId last = builder.AddConstant("last", ScalarOf(type, static_cast<double>(extent - 1)));
  TUNEC_ASSIGN(const ValueId least, builder.Add(Op::kMax, {indices, zero}));
  return builder.Add(Op::kMin, {least, last});
}

Result<std::vector<PaddedValue>> PadGather(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  TUNEC_RETURN_IF_ERROR(CountFromExactEnd(node, axis));
  Axes axes = node.axes(0);
  const auto place = axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
  axes.insert(place, node.axes(1).begin(), node.axes(1).end());
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadGatherElements(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  for (size_t a = 0; a < node.axes(0).size(); ++a) {
    if (a == axis) continue;
    if (!HasSamePositions(node.axis(1, a), node.axis(0, a)))
      return node.Reject(fmt::format("its operands lie differently along axis {}", a));
    if (!node.axis(1, a).IsOpen()) node.padder().Mix(node.axis(0, a));  // only the first are read
  }
  TUNEC_RETURN_IF_ERROR(CountFromExactEnd(node, axis));
  Axes axes = node.axes(1);
  for (size_t a = 0; a < axes.size(); ++a) {
    // Equal indices along a repeated axis read different elements at different positions of the
    // data.
    const std::optional<Axis> both =
        a == axis ? std::nullopt : node.padder().Unify(axes[a], node.axis(0, a));
    const bool alike = both && both->extents().padded == axes[a].extents().padded;
    if (alike) axes[a] = *both;
    if (!alike) axes[a] = a == axis ? axes[a] : axes[a].Different();
  }
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadOneHot(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  Axes axes = node.axes(0);
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(node.bucket().Int("axis")),
              Axis::Fixed(node.bucket().Int("depth")));
  return WithAxes(std::move(axes));
}

// A start that depends on the sizes becomes an input of the padded graph, which is added to the
// numbers of a range from 0.
Result<std::vector<PaddedValue>> PadRange(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"start", "limit"}));
  const Axis axis = node.NewAxis(0);
  if (node.RequireSameAttributes({"limit"})) return WithAxes({axis});
  TUNEC_ASSIGN(const Series starts, node.Integers("start"));
  GraphBuilder& builder = node.builder();
  TUNEC_ASSIGN(const Series steps, node.Integers("delta"));
  TUNEC_ASSIGN(const ValueId first,
               node.padder().AddNumber(node.bucket().name + ".start", starts, {}));
  const ValueId steps_taken = CountUp(builder, node.OutputShape()[0].padded, steps[0]);
  TUNEC_ASSIGN(const ValueId numbers, builder.Add(Op::kAdd, {steps_taken, first}));
  TUNEC_ASSIGN(const ValueId result,
               builder.Add(Op::kCast, {numbers}, {{"to", node.bucket().String("to")}}));
  node.SetResult(result);
  return WithAxes({axis});
}

Result<std::vector<PaddedValue>> PadRotary(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  TUNEC_ASSIGN(Axes axes, node.UnifyInputs({0, 1, 2}, 1));
  for (size_t i = 0; i < 3; ++i)
    TUNEC_RETURN_IF_ERROR(node.RequireFixed(i, node.axes(i).size() - 1));
  axes.push_back(node.axes(0).back());
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
