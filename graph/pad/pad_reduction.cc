// Rules that pad reductions, argmax, softmax and cumulative sums. Elements beyond the exact
// positions become neutral.
#include <set>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

double NeutralOf(Op op, DataType type) {
  switch (op) {
    case Op::kReduceMax:
    case Op::kReduceLogSumExp:
      return LeastOf(type);
    case Op::kReduceMin:
      return GreatestOf(type);
    case Op::kReduceProd:
      return 1;
    default:
      return 0;
  }
}

std::set<size_t> AxesOf(const Node& node) {
  const std::vector<int64_t>& axes = node.Ints("axes");
  return {axes.begin(), axes.end()};
}

Axes Reduced(const Axes& axes, const std::set<size_t>& reduced, bool keep_dims) {
  Axes result;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (!reduced.contains(a)) result.push_back(axes[a]);
    if (reduced.contains(a) && keep_dims) result.emplace_back();
  }
  return result;
}

// Returns the axes with `axis` not marked as repeated, because results depend on the position along
// this axis.
Axes DifferentAlong(Axes axes, size_t axis) {
  axes[axis] = axes[axis].Different();
  return axes;
}

// Sets the result of an arg operator that selects the last of equal elements. The selected element
// is beyond the exact ones only if all exact elements are neutral. So the index is limited to the
// last exact element. The first of equal elements is always exact.
Status KeepLast(PaddedNode& node, const Axis& along) {
  GraphBuilder& builder = node.builder();
  TUNEC_ASSIGN(const ValueId place, builder.Add(node.op(), {node.input(0).value},
                                                node.bucket().attributes, node.bucket().name));
  TUNEC_ASSIGN(const ValueId count, node.padder().CountOf(along.exact()));
  TUNEC_ASSIGN(const ValueId last, builder.Add(Op::kSub, {count, Whole(builder, 1)}));
  TUNEC_ASSIGN(const ValueId typed, node.CastTo(last, builder.TypeOf(place).type));
  TUNEC_ASSIGN(const ValueId exact, builder.Add(Op::kMin, {place, typed}));
  node.SetResult(exact);
  return {};
}

}  // namespace

// Computes in f32 for types of 16 bits, because the sum or the count may exceed their range.
Result<ValueId> MeanAlong(PaddedNode& node, ValueId value, const std::set<size_t>& axes,
                          const Attributes& attributes) {
  GraphBuilder& builder = node.builder();
  const std::string& name = node.bucket().name;
  const DataType type = builder.TypeOf(value).type;
  const DataType wide = SizeOf(type) == 2 ? DataType::kF32 : type;
  TUNEC_ASSIGN(const ValueId count, node.CountAlong(0, axes, wide));
  TUNEC_ASSIGN(const ValueId elements, node.CastTo(value, wide));
  TUNEC_ASSIGN(const ValueId sum,
               builder.Add(Op::kReduceSum, {elements}, attributes, name + ".sum"));
  TUNEC_ASSIGN(const ValueId mean, builder.Add(Op::kDiv, {sum, count}, {}, name));
  return node.CastTo(mean, type);
}

Result<std::vector<PaddedValue>> PadReduction(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const std::set<size_t> axes = AxesOf(node.bucket());
  const DataType type = node.builder().TypeOf(node.input(0).value).type;
  bool is_open = false;
  for (const size_t a : axes) is_open = is_open || node.axis(0, a).IsOpen();
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, axes, NeutralOf(node.op(), type)));
  if (is_open && node.op() == Op::kReduceMean) {
    if (!IsFloat(type)) return node.Reject("it is a mean of integers");
    TUNEC_ASSIGN(const ValueId mean,
                 MeanAlong(node, node.input(0).value, axes, node.bucket().attributes));
    node.SetResult(mean);
  }
  return WithAxes(Reduced(node.axes(0), axes, node.bucket().Int("keepdims") != 0));
}

Result<std::vector<PaddedValue>> PadArg(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  const Axis& along = node.axis(0, axis);
  if (along.IsOpen()) {
    if (!along.IsPrefix()) return node.Reject("its places are those of several dimensions");
    const DataType type = node.builder().TypeOf(node.input(0).value).type;
    const double neutral = node.op() == Op::kArgMax ? LeastOf(type) : GreatestOf(type);
    TUNEC_RETURN_IF_ERROR(node.MaskInput(0, {axis}, neutral));
    if (node.bucket().Int("select_last_index") != 0) TUNEC_RETURN_IF_ERROR(KeepLast(node, along));
  }
  return WithAxes(Reduced(node.axes(0), {axis}, node.bucket().Int("keepdims") != 0));
}

Result<std::vector<PaddedValue>> PadSoftmax(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  const DataType type = node.builder().TypeOf(node.input(0).value).type;
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, {axis}, LeastOf(type)));
  std::set<size_t> zero;
  if (node.op() == Op::kSoftmax) zero.insert(axis);
  return WithAxes(DifferentAlong(node.axes(0), axis), std::move(zero));
}

Result<std::vector<PaddedValue>> PadCumSum(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  const Axis& along = node.axis(0, axis);
  node.padder().Mix(along);
  const bool only_before = along.IsPrefix() && node.bucket().Int("reverse") == 0;
  if (!only_before) TUNEC_RETURN_IF_ERROR(node.MaskInput(0, {axis}, 0));
  return WithAxes(DifferentAlong(node.axes(0), axis));
}

}  // namespace tunec::pad
