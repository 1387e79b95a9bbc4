// Type inference for rotary embeddings, which rotate pairs of elements of the last axis by angles.
#include "graph/ops/infer.h"

namespace tunec {

// Infers the result. The angles broadcast to x in the leading axes. The angles' last axis has one
// angle for each rotated pair, or one for each element. If there are fewer angles than half of x's
// last axis, only the first elements of that axis are rotated.
Result<std::vector<ValueType>> InferRotaryEmbedding(const InferenceInput& input) {
  const ValueType& x = input.operand(0);
  for (size_t i = 0; i < 3; ++i) {
    TUNEC_RETURN_IF_ERROR(RequireSameType(input, i));
    TUNEC_RETURN_IF_ERROR(RequireRank(input, i, 1, 32));
    if (!input.operand(i).dims.back().IsConstant())
      return Fail(ErrorCode::kUnsupported, "{} operand {} is {}, expected a fixed last size",
                  Name(input.op), i, ShapeText(input.operand(i).dims));
  }
  const ValueType& cos = input.operand(1);
  if (cos.dims != input.operand(2).dims)
    return Fail(ErrorCode::kInvalidArgument, "rotary_embedding cosines are {}, sines {}",
                ShapeText(cos.dims), ShapeText(input.operand(2).dims));
  const int64_t size = x.dims.back().Value();
  const int64_t angles = cos.dims.back().Value();
  const bool for_each = angles == size;
  if (for_each ? size % 2 != 0 : 2 * angles > size)
    return Fail(ErrorCode::kInvalidArgument,
                "rotary_embedding has {} angles for {} elements, expected one for each of an even "
                "number or at most half as many",
                angles, size);
  std::vector<Dim> front(cos.dims.begin(), cos.dims.end());
  front.back() = x.dims.back();
  if (!BroadcastsTo(input, front, x.dims))
    return Fail(ErrorCode::kInvalidArgument, "rotary_embedding angles {} do not broadcast to {}",
                ShapeText(cos.dims), ShapeText(x.dims));
  return std::vector<ValueType>{x};
}

}  // namespace tunec
