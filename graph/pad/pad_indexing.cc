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
  if (along.IsPrefix() && CountFromStart(node, 1, along.exact())) return {};
  TUNEC_ASSIGN(const ExactNumbers numbers, CountExact(node, 1, along));
  GraphBuilder& builder = node.builder();
  TUNEC_ASSIGN(const ValueId last, builder.Add(Op::kSub, {numbers.total, numbers.one}));
  TUNEC_ASSIGN(const ValueId least, builder.Add(Op::kMax, {numbers.indices, numbers.zero}));
  TUNEC_ASSIGN(const ValueId clamped, builder.Add(Op::kMin, {least, last}));
  TUNEC_ASSIGN(const ValueId places, Embed(node, clamped, along, numbers.extents));
  node.SetInput(1, places);
  return {};
}

/// Marks the data's axis as mixed if only some of its positions are read.
void MixIfPartIsRead(PaddedNode& node, const Axis& indices, const Axis& data) {
  if (indices.exact() == data.exact()) return;
  node.padder().Mix(indices);
  node.padder().Mix(data);
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
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  TUNEC_RETURN_IF_ERROR(CountFromExactEnd(node, axis));
  Axes axes = node.axes(0);
  const auto place = axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
  axes.insert(place, node.axes(1).begin(), node.axes(1).end());
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadGatherElements(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  for (size_t a = 0; a < node.axes(0).size(); ++a) {
    if (a == axis) continue;
    if (!node.HasSamePositions(node.axis(1, a), node.axis(0, a)))
      return node.Reject(fmt::format("its operands lie differently along axis {}", a));
    MixIfPartIsRead(node, node.axis(1, a), node.axis(0, a));
  }
  TUNEC_RETURN_IF_ERROR(CountFromExactEnd(node, axis));
  Axes axes = node.axes(1);
  for (size_t a = 0; a < axes.size(); ++a) {
    if (a == axis) continue;
    // Equal indices along a repeated axis read different elements at different positions of the
    // data.
    const bool is_whole = axes[a].exact() == node.axis(0, a).exact();
    const std::optional<Axis> both =
        is_whole ? node.padder().Unify(axes[a], node.axis(0, a)) : std::nullopt;
    axes[a] = both ? *both : axes[a].Different();
  }
  return WithAxes(std::move(axes));
}

namespace {

/// Returns indices counted from the start of a depth that depends on the sizes. Indices out of
/// range become the padded depth. one_hot reads large numbers of u64 as negative, so this does,
/// too.
Result<ValueId> WithinDepth(PaddedNode& node, const Extents& depth) {
  GraphBuilder& builder = node.builder();
  ValueId given = node.input(0).value;
  const DataType type = builder.TypeOf(given).type;
  if (!IsSigned(type) && SizeOf(type) < SizeOf(DataType::kI64)) return given;
  TUNEC_ASSIGN(given, node.CastTo(given, DataType::kI64));
  TUNEC_ASSIGN(const ValueId count, node.padder().CountOf(depth.exact));
  const ValueId zero = Whole(builder, 0);
  TUNEC_ASSIGN(const ValueId is_negative, builder.Add(Op::kLt, {given, zero}));
  TUNEC_ASSIGN(const ValueId from_end, builder.Add(Op::kAdd, {given, count}));
  TUNEC_ASSIGN(const ValueId place, builder.Add(Op::kWhere, {is_negative, from_end, given}));
  TUNEC_ASSIGN(const ValueId is_before, builder.Add(Op::kLt, {place, zero}));
  return builder.Add(Op::kWhere, {is_before, Whole(builder, depth.padded), place});
}

}  // namespace

Result<std::vector<PaddedValue>> PadOneHot(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"depth"}));
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  const Extents depth = node.OutputShape()[axis];
  Axes axes = node.axes(0);
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(axis), node.NewAxis(axis));
  if (depth.exact.IsConstant()) return WithAxes(std::move(axes));
  if (IsFloat(node.builder().TypeOf(node.input(0).value).type))
    return node.Reject("its depth depends on the sizes, and its indices are floats");
  TUNEC_ASSIGN(const ValueId indices, WithinDepth(node, depth));
  node.SetInput(0, indices);
  node.SetAttributes(node.bucket().attributes);
  return WithAxes(std::move(axes));
}

// A start that depends on the sizes becomes an input of the padded graph, which is added to the
// numbers of a range from 0.
Result<std::vector<PaddedValue>> PadRange(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"start", "limit"}));
  const Axis axis = node.NewAxis(0);
  if (node.RequireFixedAttributes({"limit"})) return WithAxes({axis});
  GraphBuilder& builder = node.builder();
  const SizeExpr start = node.Size("start"), step = node.Size("delta");
  if (!start.IsKnown() || !step.IsConstant()) return node.Reject("its numbers are no integers");
  TUNEC_ASSIGN(const ValueId first, node.padder().Number(start, DataType::kI64));
  ValueId numbers;
  if (axis.parts().empty()) {
    TUNEC_ASSIGN(numbers, builder.Add(Op::kReshape, {first}, {{"shape", std::vector<int64_t>{1}}}));
  } else {
    const ValueId steps = CountUp(builder, axis.padded(), step.Value());
    TUNEC_ASSIGN(numbers, builder.Add(Op::kAdd, {steps, first}));
  }
  TUNEC_ASSIGN(const ValueId result,
               builder.Add(Op::kCast, {numbers}, {{"to", node.bucket().String("to")}}));
  node.SetResult(result);
  return WithAxes({axis});
}

Result<std::vector<PaddedValue>> PadRotary(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  TUNEC_ASSIGN(Axes axes, node.UnifyInputs({0, 1, 2}, 1));
  for (size_t i = 0; i < 3; ++i)
    TUNEC_RETURN_IF_ERROR(node.RequireFixed(i, node.axes(i).size() - 1));
  axes.push_back(node.axes(0).back());
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
