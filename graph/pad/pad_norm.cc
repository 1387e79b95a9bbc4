// Rules that pad normalisations. A normalisation over fixed axes is copied. Over open axes, the
// statistics are sums over the exact elements, divided by the number of exact elements.
#include <algorithm>
#include <numeric>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

DataType WideOf(DataType type) { return SizeOf(type) == 2 ? DataType::kF32 : type; }

/// A normalisation: the axes of the statistics, whether the mean is subtracted, and epsilon.
struct Group {
  std::set<size_t> axes;
  bool is_centred = true;
  double epsilon = 0;
};

Result<ValueId> Mean(PaddedNode& node, ValueId value, const Group& group, ValueId count) {
  const std::vector<int64_t> axes(group.axes.begin(), group.axes.end());
  TUNEC_ASSIGN(const ValueId sum, node.builder().Add(Op::kReduceSum, {value},
                                                     {{"axes", axes}, {"keepdims", int64_t{1}}},
                                                     node.bucket().name + ".sum"));
  return node.builder().Add(Op::kDiv, {sum, count});
}

std::set<size_t> OpenOf(const Axes& axes, const std::set<size_t>& of) {
  std::set<size_t> open;
  for (const size_t a : of) {
    if (axes[a].IsOpen()) open.insert(a);
  }
  return open;
}

/// Returns (x - mean) / sqrt(variance + epsilon), in at least 32 bits. `count` is the number of
/// exact elements of a group. Without `is_centred` the mean counts as 0.
Result<ValueId> Normalised(PaddedNode& node, PaddedValue x, const Group& group, ValueId count) {
  GraphBuilder& builder = node.builder();
  const std::set<size_t> open = OpenOf(x.axes, group.axes);
  for (const size_t a : open) node.padder().Mix(x.axes[a]);
  const DataType type = WideOf(builder.TypeOf(x.value).type);
  TUNEC_ASSIGN(x.value, node.CastTo(x.value, type));
  TUNEC_ASSIGN(x.value, node.padder().Mask(x, open, 0));
  if (group.is_centred) {
    TUNEC_ASSIGN(const ValueId mean, Mean(node, x.value, group, count));
    TUNEC_ASSIGN(x.value, builder.Add(Op::kSub, {x.value, mean}));
    TUNEC_ASSIGN(x.value, node.padder().Mask(x, open, 0));
  }
  TUNEC_ASSIGN(const ValueId square, builder.Add(Op::kMul, {x.value, x.value}));
  TUNEC_ASSIGN(const ValueId variance, Mean(node, square, group, count));
  const ValueId epsilon = builder.AddConstant("epsilon", ScalarOf(type, group.epsilon));
  TUNEC_ASSIGN(const ValueId more, builder.Add(Op::kAdd, {variance, epsilon}));
  TUNEC_ASSIGN(const ValueId deviation, builder.Add(Op::kSqrt, {more}));
  return builder.Add(Op::kDiv, {x.value, deviation});
}

/// Sets the node's result: `normalised` times operand 1 plus operand 2, in the type of operand 0.
/// An omitted operand is skipped. Operands are reshaped to `shape` unless it is empty.
Status Scale(PaddedNode& node, ValueId normalised, const std::vector<int64_t>& shape) {
  GraphBuilder& builder = node.builder();
  const DataType wide = builder.TypeOf(normalised).type;
  const DataType type = builder.TypeOf(node.input(0).value).type;
  ValueId result = normalised;
  for (size_t i = 1; i < 3; ++i) {
    if (!node.Given(i)) continue;
    ValueId operand = node.input(i).value;
    if (!shape.empty()) {
      TUNEC_ASSIGN(operand, builder.Add(Op::kReshape, {operand}, {{"shape", shape}}));
    }
    TUNEC_ASSIGN(operand, node.CastTo(operand, wide));
    TUNEC_ASSIGN(result, builder.Add(i == 1 ? Op::kMul : Op::kAdd, {result, operand}));
  }
  TUNEC_ASSIGN(const ValueId narrow, node.CastTo(result, type));
  node.SetResult(narrow);
  return {};
}

/// Returns operand 0 reshaped to [batch, groups, channels of a group, ...]. group_norm and
/// instance_norm normalise over the axes from 2 on.
Result<PaddedValue> InGroups(PaddedNode& node, int64_t groups) {
  PaddedValue grouped = node.input(0);
  const Axes& axes = node.axes(0);
  const int64_t channels = axes[1].padded();
  std::vector<int64_t> shape;
  for (const Axis& axis : axes) shape.push_back(axis.padded());
  shape[1] = groups;
  shape.insert(shape.begin() + 2, channels / groups);
  grouped.axes[1] = Axis::Fixed(groups);
  grouped.axes.insert(grouped.axes.begin() + 2, Axis::Fixed(channels / groups));
  grouped.zero_beyond.clear();
  TUNEC_ASSIGN(grouped.value,
               node.builder().Add(Op::kReshape, {grouped.value}, {{"shape", shape}}));
  return grouped;
}

Status PadGroupNorm(PaddedNode& node) {
  GraphBuilder& builder = node.builder();
  const Axes& axes = node.axes(0);
  const int64_t channels = axes[1].padded();
  const int64_t groups = node.op() == Op::kGroupNorm ? node.bucket().Int("groups") : channels;
  TUNEC_ASSIGN(const PaddedValue grouped, InGroups(node, groups));
  Group group{.axes = {}, .is_centred = true, .epsilon = node.bucket().Float("epsilon")};
  for (size_t a = 2; a < grouped.axes.size(); ++a) group.axes.insert(a);
  const DataType wide = WideOf(builder.TypeOf(grouped.value).type);
  std::set<size_t> spatial;
  for (size_t a = 2; a < axes.size(); ++a) spatial.insert(a);
  TUNEC_ASSIGN(ValueId count, node.CountAlong(0, spatial, wide));
  const int64_t each = channels / groups;
  TUNEC_ASSIGN(
      count,
      builder.Add(Op::kMul, {count, builder.AddConstant(
                                        "channels", ScalarOf(wide, static_cast<double>(each)))}));
  TUNEC_ASSIGN(const ValueId normalised, Normalised(node, grouped, group, count));
  std::vector<int64_t> shape, across(axes.size() - 1, 1);
  for (const Axis& axis : axes) shape.push_back(axis.padded());
  across[0] = channels;
  TUNEC_ASSIGN(const ValueId back, builder.Add(Op::kReshape, {normalised}, {{"shape", shape}}));
  return Scale(node, back, across);
}

}  // namespace

Result<std::vector<PaddedValue>> PadAxisNorm(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  std::vector<size_t> operands(node.num_inputs());
  std::iota(operands.begin(), operands.end(), size_t{0});
  TUNEC_ASSIGN(Axes unified, node.UnifyInputs(operands));
  node.input(0).axes = unified;
  Group group{.axes = {},
              .is_centred = node.op() == Op::kLayerNorm,
              .epsilon = node.bucket().Float("epsilon")};
  for (auto a = static_cast<size_t>(node.bucket().Int("axis")); a < unified.size(); ++a)
    group.axes.insert(a);
  if (OpenOf(unified, group.axes).empty()) return WithAxes(std::move(unified));
  const DataType wide = WideOf(node.builder().TypeOf(node.input(0).value).type);
  TUNEC_ASSIGN(const ValueId count, node.CountAlong(0, group.axes, wide));
  TUNEC_ASSIGN(const ValueId normalised, Normalised(node, node.input(0), group, count));
  TUNEC_RETURN_IF_ERROR(Scale(node, normalised, {}));
  for (const size_t a : group.axes) unified[a] = unified[a].Different();
  return WithAxes(std::move(unified));
}

Result<std::vector<PaddedValue>> PadChannelNorm(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, 1));
  Axes axes = node.axes(0);
  bool is_open = false;
  for (size_t a = 2; a < axes.size(); ++a) is_open = is_open || axes[a].IsOpen();
  if (!is_open || node.op() == Op::kLrn) return WithAxes(std::move(axes));
  TUNEC_RETURN_IF_ERROR(PadGroupNorm(node));
  for (size_t a = 2; a < axes.size(); ++a) axes[a] = axes[a].Different();
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
