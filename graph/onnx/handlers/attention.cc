// Import of Attention (from opset 23) as the operator `attention`. Reshapes and transposes split
// the heads. Cached keys are concatenated before the new keys. A causal limit becomes the attribute
// `causal`, unless the input of valid keys is given. All other limits of a query's keys are joined
// with the mask.
#include <array>
#include <cmath>
#include <limits>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"
#include "ir/rounding.h"
#include "ir/size/prove_sizes.h"
#include "ir/size/size_text.h"

namespace tunec::onnx_import {
namespace {

enum Input : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kValidKeys };
enum Output : size_t { kY, kPresentKey, kPresentValue, kScores };

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns x [batch, sequence, heads * size] as [batch, heads, sequence, size]. An operand with
/// four axes is unchanged.
Result<Operand> SplitHeads(const NodeContext& node, const Operand& x, const char* heads_name) {
  if (x->rank() == 4) return x;
  TUNEC_RETURN_IF_ERROR(node.RequireRank(x, 3, 4));
  TUNEC_ASSIGN(const auto dims, node.Dims<3>(x));
  TUNEC_ASSIGN(const int64_t width, node.Extent(x, 2));
  TUNEC_ASSIGN(const int64_t heads, node.Int(heads_name, 0));
  if (heads < 1 || width % heads != 0)
    return Fail(ErrorCode::kInvalidArgument, "{} is {}, expected a divisor of {}", heads_name,
                heads, width);
  TUNEC_ASSIGN(const Operand split, node.Reshape(x, {dims[0], dims[1], heads, width / heads}));
  return node.Transpose(split, {0, 2, 1, 3});
}

Result<Operand> MergeHeads(const NodeContext& node, const Operand& x) {
  TUNEC_ASSIGN(const Operand moved, node.Transpose(x, {0, 2, 1, 3}));
  TUNEC_ASSIGN(const auto dims, node.Dims<4>(x));
  const auto& [batch, heads, sequence, size] = dims;
  return node.Reshape(moved, {batch, sequence, heads * size});
}

/// Returns the cached keys (or values) of the input `past`, followed by x. Returns x if that input
/// is omitted.
Result<Operand> WithPast(const NodeContext& node, const Operand& x, size_t past) {
  if (!node.HasInput(past)) return x;
  return node.Emit(Op::kConcat, {node.OptionalInput(past), x}, {{"axis", int64_t{2}}});
}

struct Limits {
  bool causal = false;
  int64_t left = -1, right = -1;  // window of keys around the query's position; -1: no window
  bool HasWindow() const { return left >= 0 || right >= 0; }
};

struct Parts {
  Operand q, k, v;
  Operand mask;   // null if there is no mask
  Operand valid;  // number of valid keys per batch, or null
  Dim queries;
  Dim keys;
  Dim past;  // number of cached keys, which come first
  Limits limits;
  double scale = 1, softcap = 0;
};

/// Returns 0, 1, ... below `count` along a last axis (Row), or along the axis before it (Column).
Result<Operand> Row(const NodeContext& node, const Dim& count) {
  return Iota(node, 0, count).Take();
}
Result<Operand> Column(const NodeContext& node, const Dim& count) {
  return Iota(node, 0, count).Unsqueeze(1).Take();
}

Operand Number(const NodeContext& node, const Dim& value) { return node.Sizes64({value}); }

Result<Operand> And(const NodeContext& node, const Operand& a, const Operand& b) {
  return a == nullptr ? Result<Operand>(b) : node.Emit(Op::kAnd, {a, b});
}

/// Returns a mask that is true for the keys that the window and the numbers of valid keys allow. If
/// there are numbers of valid keys, the causal limit is included. The mask broadcasts to the
/// scores. Returns null if there is neither a window nor a number of valid keys.
Result<Operand> AllowedKeys(const NodeContext& node, const Parts& parts) {
  TUNEC_ASSIGN(const Operand key, Row(node, parts.keys));
  Operand allowed;
  TUNEC_ASSIGN(Operand position,
               Column(node, parts.queries));  // position of the query among the keys
  if (parts.valid != nullptr) {
    TUNEC_ASSIGN(const auto batch, node.Dims<1>(parts.valid));
    TUNEC_ASSIGN(const Operand valid, node.Reshape(parts.valid, {batch[0], 1, 1, 1}));
    TUNEC_ASSIGN(allowed, node.Emit(Op::kLt, {key, valid}));
    TUNEC_ASSIGN(const bool own_offset, node.AreEqual(parts.past, 0));
    if (own_offset) {
      TUNEC_ASSIGN(const Operand first, node.Emit(Op::kSub, {valid, Number(node, parts.queries)}));
      TUNEC_ASSIGN(position, node.Emit(Op::kAdd, {position, first}));
    }
  } else {
    TUNEC_ASSIGN(position, node.Emit(Op::kAdd, {position, Number(node, parts.past)}));
  }
  if (parts.limits.causal && parts.valid != nullptr) {
    TUNEC_ASSIGN(const Operand before, node.Emit(Op::kLe, {key, position}));
    TUNEC_ASSIGN(allowed, And(node, allowed, before));
  }
  if (!parts.limits.HasWindow()) return allowed;
  TUNEC_ASSIGN(const Operand distance, node.Emit(Op::kSub, {position, key}));
  if (parts.limits.left >= 0) {
    TUNEC_ASSIGN(const Operand near,
                 node.Emit(Op::kLe, {distance, Number(node, FixedDim(parts.limits.left))}));
    TUNEC_ASSIGN(allowed, And(node, allowed, near));
  }
  if (parts.limits.right >= 0) {
    TUNEC_ASSIGN(const Operand near,
                 node.Emit(Op::kGe, {distance, Number(node, FixedDim(-parts.limits.right))}));
    TUNEC_ASSIGN(allowed, And(node, allowed, near));
  }
  return allowed;
}

/// Returns a mask for all keys. A mask for the first keys only is padded so that it hides the other
/// keys. A named size that is not proved to be at most the number of keys is assumed to be equal.
Result<Operand> PaddedMask(const NodeContext& node, const Operand& mask, const Dim& keys) {
  if (mask->rank() == 0) return mask;
  TUNEC_ASSIGN(const Dim masked, node.DimOf(mask, -1));
  if (masked == keys) return mask;
  if (!masked.IsConstant() && !ProveAtMost(masked, keys, {}) && MayBeEqual({masked}, {keys})) {
    std::vector<Dim> shape = mask->shape;
    shape.back() = keys;
    return node.Reshape(mask, shape);
  }
  TUNEC_ASSIGN(const bool fits, NodeContext::IsAtMost(masked, keys));
  if (!fits)
    return Fail(ErrorCode::kInvalidArgument, "the mask has {} keys, expected at most {}",
                Print(masked), Print(keys));
  std::vector<Dim> pads(2 * mask->shape.size(), 0);
  pads.back() = keys - masked;
  const double hidden = mask->type == DataType::kBool ? 0 : -kInfinity;
  return node.Emit(Op::kPad, {mask},
                   {{"pads", SizesAttribute(std::move(pads))}, {"value", hidden}});
}

/// Returns the mask cast to the type. Finite numbers of a wider float type stay finite, so that a
/// row of the most negative numbers still has visible keys.
Result<Operand> NarrowedMask(const NodeContext& node, const Operand& mask, DataType type) {
  if (SizeOf(mask->type) <= SizeOf(type) || !IsFloat(mask->type)) return node.Cast(mask, type);
  const double most = LargestFinite(type);
  TUNEC_ASSIGN(const Operand bounded,
               node.Emit(Op::kClip, {mask}, {{"min", -most}, {"max", most}}));
  TUNEC_ASSIGN(const Operand is_infinite, node.Emit(Op::kIsInf, {mask}));
  TUNEC_ASSIGN(const Operand chosen, node.Emit(Op::kWhere, {is_infinite, mask, bounded}));
  return node.Cast(chosen, type);
}

Result<Operand> JoinMasks(const NodeContext& node, const Operand& mask, const Operand& allowed) {
  if (mask == nullptr || allowed == nullptr) return mask == nullptr ? allowed : mask;
  if (mask->type == DataType::kBool) return And(node, mask, allowed);
  return node.Emit(Op::kWhere, {allowed, mask, node.Scalar(-kInfinity, mask->type)});
}

Result<Parts> ReadParts(const NodeContext& node) {
  Parts parts;
  TUNEC_ASSIGN(const Operand q, node.Input(kQ));
  TUNEC_ASSIGN(const Operand k, node.Input(kK));
  TUNEC_ASSIGN(const Operand v, node.Input(kV));
  TUNEC_ASSIGN(parts.q, SplitHeads(node, q, "q_num_heads"));
  TUNEC_ASSIGN(parts.k, SplitHeads(node, k, "kv_num_heads"));
  TUNEC_ASSIGN(parts.v, SplitHeads(node, v, "kv_num_heads"));
  TUNEC_ASSIGN(parts.k, node.Cast(parts.k, q->type));
  TUNEC_ASSIGN(parts.v, node.Cast(parts.v, q->type));
  TUNEC_ASSIGN(const Dim own_keys, node.DimOf(parts.k, 2));
  TUNEC_ASSIGN(parts.k, WithPast(node, parts.k, kPastKey));
  TUNEC_ASSIGN(parts.v, WithPast(node, parts.v, kPastValue));
  TUNEC_ASSIGN(parts.queries, node.DimOf(parts.q, 2));
  TUNEC_ASSIGN(parts.keys, node.DimOf(parts.k, 2));
  parts.past = parts.keys - own_keys;
  parts.valid = node.OptionalInput(kValidKeys);
  TUNEC_ASSIGN(const int64_t causal, node.Int("is_causal", 0));
  TUNEC_ASSIGN(const int64_t left, node.Int("left_window_size", -1));
  TUNEC_ASSIGN(const int64_t right, node.Int("right_window_size", -1));
  parts.limits = {.causal = causal != 0, .left = left, .right = right};
  TUNEC_ASSIGN(const int64_t size, node.Extent(parts.q, 3));
  TUNEC_ASSIGN(parts.scale, node.Float("scale", 1 / std::sqrt(static_cast<double>(size))));
  TUNEC_ASSIGN(parts.softcap, node.Float("softcap", 0));
  if (node.HasInput(kMask)) {
    TUNEC_ASSIGN(parts.mask, PaddedMask(node, node.OptionalInput(kMask), parts.keys));
    if (parts.mask->type != DataType::kBool) {
      TUNEC_ASSIGN(parts.mask, NarrowedMask(node, parts.mask, q->type));
    }
  }
  TUNEC_ASSIGN(const Operand allowed, AllowedKeys(node, parts));
  TUNEC_ASSIGN(parts.mask, JoinMasks(node, parts.mask, allowed));
  return parts;
}

/// Returns k with each head repeated for its group of query heads.
Result<Operand> RepeatedKeys(const NodeContext& node, const Parts& parts) {
  TUNEC_ASSIGN(const auto dims, node.Dims<4>(parts.k));
  TUNEC_ASSIGN(const int64_t query_heads, node.Extent(parts.q, 1));
  TUNEC_ASSIGN(const int64_t heads, node.Extent(parts.k, 1));
  const Dim &batch = dims[0], &keys = dims[2], &size = dims[3];
  const int64_t group = heads == 0 ? 1 : query_heads / heads;
  if (group == 1) return parts.k;
  TUNEC_ASSIGN(const Operand apart, node.Reshape(parts.k, {batch, heads, 1, keys, size}));
  TUNEC_ASSIGN(const Operand repeated, node.Expand(apart, {batch, heads, group, keys, size}));
  return node.Reshape(repeated, {batch, heads * group, keys, size});
}

/// Returns the optional output of scores: plain (mode 0), with soft cap (1), masked (2), or as
/// weights (3).
Result<Operand> Scores(const NodeContext& node, const Parts& parts, int64_t mode) {
  const DataType type = parts.q->type;
  TUNEC_ASSIGN(const Operand k, RepeatedKeys(node, parts));
  TUNEC_ASSIGN(Operand x, node.Emit(Op::kMatmul, {parts.q, k}, {{"transpose_b", int64_t{1}}}));
  TUNEC_ASSIGN(x, node.Emit(Op::kMul, {x, node.Scalar(parts.scale, type)}));
  if (mode == 0) return x;
  if (parts.softcap > 0) {
    const Operand cap = node.Scalar(parts.softcap, type);
    TUNEC_ASSIGN(x, node.Emit(Op::kDiv, {x, cap}));
    TUNEC_ASSIGN(x, node.Emit(Op::kTanh, {x}));
    TUNEC_ASSIGN(x, node.Emit(Op::kMul, {x, cap}));
  }
  if (mode == 1) return x;
  const Operand hidden = node.Scalar(-kInfinity, type);
  if (parts.mask != nullptr) {
    TUNEC_ASSIGN(x, parts.mask->type == DataType::kBool
                        ? node.Emit(Op::kWhere, {parts.mask, x, hidden})
                        : node.Emit(Op::kAdd, {x, parts.mask}));
  }
  if (parts.limits.causal && parts.valid == nullptr) {
    TUNEC_ASSIGN(const Operand last, Column(node, parts.queries));
    TUNEC_ASSIGN(const Operand position, node.Emit(Op::kAdd, {last, Number(node, parts.past)}));
    TUNEC_ASSIGN(const Operand key, Row(node, parts.keys));
    TUNEC_ASSIGN(const Operand before, node.Emit(Op::kLe, {key, position}));
    TUNEC_ASSIGN(x, node.Emit(Op::kWhere, {before, x, hidden}));
  }
  if (mode == 2) return x;
  TUNEC_ASSIGN(const Operand most,
               node.Emit(Op::kReduceMax, {x}, {{"axes", std::vector<int64_t>{3}}}));
  TUNEC_ASSIGN(const Operand empty, node.Emit(Op::kEq, {most, hidden}));
  TUNEC_ASSIGN(const Operand weights, node.Emit(Op::kSoftmax, {x}, {{"axis", int64_t{3}}}));
  return node.Emit(Op::kWhere, {empty, node.Scalar(0, type), weights});
}

Result<Operands> Attention(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Parts parts, ReadParts(node));
  Operands inputs = {parts.q, parts.k, parts.v};
  if (parts.mask != nullptr) inputs.push_back(parts.mask);
  Attributes attributes = {
      {"scale", parts.scale}, {"softcap", parts.softcap}, {"empty_rows", "zero"}};
  if (parts.limits.causal && parts.valid == nullptr) {
    attributes["causal"] = int64_t{1};
    attributes["causal_offset"] = SizeAttribute(parts.past);
  }
  TUNEC_ASSIGN(Operand y, node.Emit(op, inputs, std::move(attributes)));
  TUNEC_ASSIGN(const Operand q, node.Input(kQ));
  if (q->rank() == 3) {
    TUNEC_ASSIGN(y, MergeHeads(node, y));
  }
  Operands outputs = {y};
  if (node.num_outputs() > kPresentKey) outputs.push_back(parts.k);
  if (node.num_outputs() > kPresentValue) outputs.push_back(parts.v);
  if (node.num_outputs() <= kScores) return outputs;
  TUNEC_ASSIGN(const int64_t mode, node.Int("qk_matmul_output_mode", 0));
  if (mode < 0 || mode > 3) {
    return Fail(ErrorCode::kInvalidArgument, "qk_matmul_output_mode is {}, expected 0 to 3", mode);
  }
  TUNEC_ASSIGN(const Operand scores, Scores(node, parts, mode));
  outputs.push_back(scores);
  return outputs;
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Attention", 23, Attention, Op::kAttention},
});

}  // namespace

std::span<const Handler> AttentionHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
