// The definition of attention and its type inference. The result is y = softmax(s) v over the keys.
// For query i and key j of one head, the score s is computed in these steps:
//
//   s = scale * (q_i . k_j)            scale: 1/sqrt(D) unless given
//   s = softcap * tanh(s / softcap)    if softcap > 0
//   s = s + mask                       a mask of floats; of bool: s where true, else hidden
//   s = hidden                         if causal and j > i + causal_offset
//   s = hidden                         if causal, window > 0 and j <= i + causal_offset - window
// q is [*, H, S, D], k [*, H/g, T, D], v [*, H/g, T, E], y [*, H, S, E]; head h of q uses head
// floor(h/g) of k and v (grouped queries). Rank 2 is one head. The mask broadcasts to [*, H, S, T].
// `hidden` is -inf unless given.
// If every score of a row is -inf, softmax makes the row NaN; with empty_rows "zero" the row is 0.
// Without keys (T = 0) y is 0.
#include <cmath>

#include "graph/ops/infer.h"

namespace tunec {
namespace {

Status CheckRanks(const InferenceInput& input) {
  constexpr size_t kMostAxes = 16;
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 0, 2, kMostAxes));
  const size_t rank = input.operand(0).dims.size();
  for (const size_t operand : {1, 2}) {
    TUNEC_RETURN_IF_ERROR(RequireSameType(input, operand));
    TUNEC_RETURN_IF_ERROR(RequireRank(input, operand, rank, rank));
  }
  if (IsFloat(input.operand(0).type)) return {};
  return Fail(ErrorCode::kInvalidArgument, "attention operand 0 is {}, expected a float type",
              Name(input.operand(0).type));
}

// Returns whether the number of query heads is known to be a multiple of the number of key heads.
bool GroupsHeads(const Dim& query, const Dim& key) {
  if (query == key) return true;
  if (!query.IsConstant() || !key.IsConstant() || key.Value() == 0) return false;
  return query.Value() % key.Value() == 0;
}

Status CheckShapes(const InferenceInput& input) {
  const auto& q = input.operand(0).dims;
  const auto& k = input.operand(1).dims;
  const auto& v = input.operand(2).dims;
  const size_t rank = q.size();
  const auto fail = [&](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, "attention {}: q is {}, k is {}, v is {}", what,
                ShapeText(q), ShapeText(k), ShapeText(v));
  };
  const auto are_equal = [&](const Dim& a, const Dim& b) {
    return input.Allows(SizeCondition::Kind::kEqual, a, b);
  };
  if (!are_equal(q.back(), k.back())) return fail("head sizes of q and k differ");
  if (!are_equal(k[rank - 2], v[rank - 2])) return fail("k and v have different numbers of keys");
  for (size_t d = 0; d + 2 < rank; ++d) {
    const bool heads = d + 3 == rank;
    if (!are_equal(k[d], v[d]) || !(heads ? GroupsHeads(q[d], k[d]) : are_equal(q[d], k[d])))
      return fail(heads ? "heads do not group" : "batches differ");
  }
  return {};
}

Status CheckMask(const InferenceInput& input) {
  if (!input.HasOperand(3)) return {};
  const ValueType& mask = input.operand(3);
  if (mask.type != DataType::kBool) TUNEC_RETURN_IF_ERROR(RequireSameType(input, 3));
  std::vector<Dim> scores = input.operand(0).dims;
  scores.back() = input.operand(1).dims[scores.size() - 2];
  if (BroadcastsTo(input, mask.dims, scores)) return {};
  return Fail(ErrorCode::kInvalidArgument, "attention mask is {}, expected what broadcasts to {}",
              ShapeText(mask.dims), ShapeText(scores));
}

Status CompleteAttributes(const InferenceInput& input) {
  const std::string& empty = input.String("empty_rows");
  if (empty != "nan" && empty != "zero")
    return Fail(ErrorCode::kInvalidArgument,
                "attention attribute empty_rows is \"{}\", expected \"nan\" or \"zero\"", empty);
  if (!(input.Float("softcap") >= 0))
    return Fail(ErrorCode::kInvalidArgument, "attention softcap is {}, expected at least 0",
                input.Float("softcap"));
  const int64_t window = input.Int("window");
  if (window < 0 || (window > 0 && input.Int("causal") == 0))
    return Fail(ErrorCode::kInvalidArgument,
                "attention window is {} and causal is {}, expected a window of 0, or causal=1",
                window, input.Int("causal"));
  if (input.Has("scale")) return {};
  const Dim& size = input.operand(0).dims.back();
  if (!size.IsConstant() || size.Value() == 0)
    return Fail(ErrorCode::kUnsupported, "attention head size is {}, expected a scale with it",
                DimText(size));
  (*input.attributes)["scale"] = 1 / std::sqrt(static_cast<double>(size.Value()));
  return {};
}

}  // namespace

Result<std::vector<ValueType>> InferAttention(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(CheckRanks(input));
  TUNEC_RETURN_IF_ERROR(CheckShapes(input));
  TUNEC_RETURN_IF_ERROR(CheckMask(input));
  TUNEC_RETURN_IF_ERROR(CompleteAttributes(input));
  std::vector<Dim> dims = input.operand(0).dims;
  dims.back() = input.operand(2).dims.back();
  return std::vector<ValueType>{{input.operand(0).type, std::move(dims)}};
}

}  // namespace tunec
