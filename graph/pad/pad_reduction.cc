// Sums, maxima, normalisations: what is beyond the exact positions becomes neutral.
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

// What was repeated along the axis is not after an operator that goes by places.
Axes DifferentAlong(Axes axes, size_t axis) {
  axes[axis] = axes[axis].Different();
  return axes;
}

// A mean is a sum over the number of exact elements, which 16 bits may not hold.
Status DivideSum(PaddedNode& node, const std::set<size_t>& axes) {
  int64_t count = 1;
  for (const size_t a : axes) count *= node.axis(0, a).extents().exact;
  GraphBuilder& builder = node.builder();
  const std::string& name = node.bucket().name;
  ValueId elements = node.input(0).value;
  const DataType type = builder.TypeOf(elements).type;
  const DataType wide = SizeOf(type) == 2 ? DataType::kF32 : type;
  const auto cast = [&](ValueId value, DataType to) {
    return builder.Add(Op::kCast, {value}, {{"to", std::string(Name(to))}}, name + ".cast");
  };
  TUNEC_ASSIGN(
      const ValueId divisor,
      node.padder().AddValueParameter(name + ".count", ScalarOf(wide, static_cast<double>(count))));
  if (wide != type) {
    TUNEC_ASSIGN(elements, cast(elements, wide));
  }
  TUNEC_ASSIGN(const ValueId sum,
               builder.Add(Op::kReduceSum, {elements}, node.bucket().attributes, name + ".sum"));
  TUNEC_ASSIGN(ValueId mean, builder.Add(Op::kDiv, {sum, divisor}, {}, name));
  if (wide != type) {
    TUNEC_ASSIGN(mean, cast(mean, type));
  }
  node.SetResult(mean);
  return {};
}

}  // namespace

Result<std::vector<PaddedValue>> PadReduction(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const std::set<size_t> axes = AxesOf(node.bucket());
  const DataType type = node.builder().TypeOf(node.input(0).value).type;
  bool is_open = false;
  for (const size_t a : axes) is_open = is_open || node.axis(0, a).IsOpen();
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, axes, NeutralOf(node.op(), type)));
  if (is_open && node.op() == Op::kReduceMean) {
    if (!IsFloat(type)) return node.Refuse("it is a mean of integers");
    TUNEC_RETURN_IF_ERROR(DivideSum(node, axes));
  }
  return Lies(Reduced(node.axes(0), axes, node.bucket().Int("keepdims") != 0));
}

Result<std::vector<PaddedValue>> PadArg(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  const Axis& along = node.axis(0, axis);
  if (along.IsOpen()) {
    if (!along.IsPrefix()) return node.Refuse("its places are those of several dimensions");
    // Of equal ones the first counts, and that is an exact one.
    if (node.bucket().Int("select_last_index") != 0) return node.Refuse("it asks for the last");
    const DataType type = node.builder().TypeOf(node.input(0).value).type;
    const double neutral = node.op() == Op::kArgMax ? LeastOf(type) : GreatestOf(type);
    TUNEC_RETURN_IF_ERROR(node.MaskInput(0, {axis}, neutral));
  }
  return Lies(Reduced(node.axes(0), {axis}, node.bucket().Int("keepdims") != 0));
}

Result<std::vector<PaddedValue>> PadSoftmax(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  const DataType type = node.builder().TypeOf(node.input(0).value).type;
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, {axis}, LeastOf(type)));
  std::set<size_t> zero;
  if (node.op() == Op::kSoftmax) zero.insert(axis);
  return Lies(DifferentAlong(node.axes(0), axis), std::move(zero));
}

Result<std::vector<PaddedValue>> PadCumSum(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const auto axis = static_cast<size_t>(node.bucket().Int("axis"));
  const Axis& along = node.axis(0, axis);
  node.padder().Mix(along);
  const bool only_before = along.IsPrefix() && node.bucket().Int("reverse") == 0;
  if (!only_before) TUNEC_RETURN_IF_ERROR(node.MaskInput(0, {axis}, 0));
  return Lies(DifferentAlong(node.axes(0), axis));
}

Result<std::vector<PaddedValue>> PadAxisNorm(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const Axes& axes = node.axes(0);
  for (size_t a = static_cast<size_t>(node.bucket().Int("axis")); a < axes.size(); ++a)
    TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, a));
  std::vector<size_t> operands;
  for (size_t i = 0; i < node.num_inputs(); ++i) operands.push_back(i);
  TUNEC_ASSIGN(Axes unified, node.UnifyInputs(operands));
  return Lies(std::move(unified));
}

Result<std::vector<PaddedValue>> PadChannelNorm(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  const Axes& axes = node.axes(0);
  const size_t last = node.op() == Op::kLrn ? 2 : axes.size();
  for (size_t a = 1; a < last; ++a) TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, a));
  return Lies(axes);
}

}  // namespace tunec::pad
