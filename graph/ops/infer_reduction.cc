// Type and shape inference for reductions, cumulative sums, softmax and normalisations.
#include <algorithm>

#include "graph/ops/infer.h"

namespace tunec {
namespace {

/// Returns `dims` without the axes, or with size 1 for them if `keep_dims`.
std::vector<Dim> Reduced(const std::vector<Dim>& dims, const std::vector<int64_t>& axes,
                         bool keep_dims) {
  std::vector<Dim> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool reduced = std::ranges::find(axes, static_cast<int64_t>(i)) != axes.end();
    if (!reduced) result.push_back(dims[i]);
    if (reduced && keep_dims) result.emplace_back(1);
  }
  return result;
}

Status CheckEpsilon(const InferenceInput& input) {
  if (input.Float("epsilon") >= 0) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} epsilon is {}, expected at least 0", Name(input.op),
              input.Float("epsilon"));
}

/// Checks `epsilon`, and that every operand except the first is a vector with one entry per channel
/// (axis 1). The vectors of a batch normalisation may have a wider float type.
Status CheckChannelOperands(const InferenceInput& input) {
  const auto check = input.op == Op::kBatchNorm ? RequireSameOrWiderType : RequireSameType;
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 0, 2, 32));
  TUNEC_RETURN_IF_ERROR(CheckEpsilon(input));
  const Dim& channels = input.operand(0).dims[1];
  for (size_t i = 1; i < input.operands.size(); ++i) {
    TUNEC_RETURN_IF_ERROR(check(input, i));
    const std::vector<Dim>& dims = input.operand(i).dims;
    if (dims.size() != 1 || !input.Allows(SizeCondition::Kind::kEqual, dims[0], channels))
      return Fail(ErrorCode::kInvalidArgument,
                  "{} operand {} is {}, expected {}, the channels of {}", Name(input.op), i,
                  ShapeText(dims), DimText(channels), ShapeText(input.operand(0).dims));
  }
  return {};
}

}  // namespace

Result<std::vector<ValueType>> InferReduction(const InferenceInput& input) {
  const ValueType& x = input.operand(0);
  TUNEC_ASSIGN(const std::vector<int64_t> axes, CompleteAxes(input, x.dims.size()));
  return std::vector<ValueType>{{x.type, Reduced(x.dims, axes, input.Int("keepdims") != 0)}};
}

Result<std::vector<ValueType>> InferArg(const InferenceInput& input) {
  const ValueType& x = input.operand(0);
  TUNEC_ASSIGN(const int64_t axis, CompleteAxis(input, x.dims.size()));
  if (!input.Allows(SizeCondition::Kind::kAtMost, 1, x.dims[axis]))
    return Fail(ErrorCode::kInvalidArgument, "{} axis {} of {} is empty", Name(input.op), axis,
                ShapeText(x.dims));
  return std::vector<ValueType>{
      {DataType::kI64, Reduced(x.dims, {axis}, input.Int("keepdims") != 0)}};
}

Result<std::vector<ValueType>> InferAlongAxis(const InferenceInput& input) {
  const ValueType& x = input.operand(0);
  TUNEC_RETURN_IF_ERROR(CompleteAxis(input, x.dims.size()));
  return std::vector<ValueType>{x};
}

Result<std::vector<ValueType>> InferChannelNorm(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(CheckChannelOperands(input));
  return std::vector<ValueType>{input.operand(0)};
}

Result<std::vector<ValueType>> InferGroupNorm(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(CheckChannelOperands(input));
  const Dim& channels = input.operand(0).dims[1];
  const int64_t groups = input.Int("groups");
  if (groups < 1 || !input.Allows(SizeCondition::Kind::kEqual, Dim::Mod(channels, groups), 0))
    return Fail(ErrorCode::kInvalidArgument,
                "group_norm groups is {}, expected a divisor of {} channels", groups,
                DimText(channels));
  return std::vector<ValueType>{input.operand(0)};
}

Result<std::vector<ValueType>> InferAxisNorm(const InferenceInput& input) {
  const ValueType& x = input.operand(0);
  TUNEC_RETURN_IF_ERROR(CheckEpsilon(input));
  TUNEC_ASSIGN(const int64_t axis, CompleteAxis(input, x.dims.size()));
  const std::vector<Dim> normalised(x.dims.begin() + axis, x.dims.end());
  for (size_t i = 1; i < input.operands.size(); ++i) {
    if (!input.HasOperand(i)) continue;
    TUNEC_RETURN_IF_ERROR(RequireSameType(input, i));
    if (!BroadcastsTo(input, input.operand(i).dims, x.dims))
      return Fail(ErrorCode::kInvalidArgument,
                  "{} operand {} is {}, expected {} or what broadcasts to {}", Name(input.op), i,
                  ShapeText(input.operand(i).dims), ShapeText(normalised), ShapeText(x.dims));
  }
  return std::vector<ValueType>{x};
}

Result<std::vector<ValueType>> InferLrn(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 0, 2, 32));
  if (input.Int("size") < 1)
    return Fail(ErrorCode::kInvalidArgument, "lrn size is {}, expected at least 1",
                input.Int("size"));
  return std::vector<ValueType>{input.operand(0)};
}

}  // namespace tunec
