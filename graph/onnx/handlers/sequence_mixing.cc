// Handlers of RotaryEmbedding, LinearAttention and CausalConvWithState. Language models apply these
// operators to sequences.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

/// Returns [batch, sequence, heads * size] as [batch, sequence, heads, size].
Result<Formula> SplitHeads(const Formula& x, int64_t heads, std::string_view name) {
  TUNEC_ASSIGN(const auto dims, x.Dims<3>());
  TUNEC_ASSIGN(const int64_t width, x.Extent(2));
  if (heads < 1 || width % heads != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} has a last axis of {}, expected a multiple of {} "
                "heads",
                name, width, heads);
  }
  return x.Reshape({dims[0], dims[1], heads, width / heads});
}

Result<Operands> RotaryEmbedding(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  TUNEC_ASSIGN(const int64_t interleaved, node.Int("interleaved", 0));
  TUNEC_ASSIGN(const int64_t heads, node.Int("num_heads", 0));
  TUNEC_ASSIGN(int64_t rotated, node.Int("rotary_embedding_dim", 0));
  Formula x(node, input);
  const bool heads_first = x.rank() == 4;
  if (!heads_first) {
    TUNEC_ASSIGN(x, SplitHeads(x, heads, "the input"));
  }
  TUNEC_ASSIGN(const int64_t size, x.Extent(3));
  if (rotated == 0) rotated = size;
  if (rotated < 0 || rotated > size || rotated % 2 != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "rotary_embedding_dim is {}, expected even, at most {}", rotated, size);
  }
  std::array<Formula, 2> angles{In(node, 1), In(node, 2)};  // cosines, sines
  for (Formula& angle : angles) {
    if (node.HasInput(3)) angle = Gather(angle, In(node, 3));
    angle = angle.Unsqueeze(heads_first ? 1 : 2);
    TUNEC_ASSIGN(const int64_t angles, angle.Extent(-1));
    if (2 * angles != rotated) {
      return Fail(ErrorCode::kInvalidArgument,
                  "{} angles for {} rotated elements, expected half as many", angles, rotated);
    }
  }
  const Formula y =
      Apply(Op::kRotaryEmbedding, {x, angles[0], angles[1]}, {{"interleaved", interleaved}});
  return Results({heads_first ? y : y.Reshape(input->shape)});
}

/// The optional parts of LinearAttention's formula: exp(g) if `decays`, and beta with -S^T k if
/// `corrects`.
struct UpdateRule {
  bool decays = false;
  bool corrects = false;
};

Result<UpdateRule> ReadUpdateRule(const NodeContext& node) {
  TUNEC_ASSIGN(const std::string name,
               node.Choice("update_rule", {"gated_delta", "gated", "delta", "linear"}));
  const UpdateRule rule{.decays = name.starts_with("gated"), .corrects = name.ends_with("delta")};
  if (node.HasInput(4) != rule.decays || node.HasInput(5) != rule.corrects) {
    return Fail(ErrorCode::kInvalidArgument, "decay or beta do not fit update_rule '{}'", name);
  }
  return rule;
}

/// Largest number of steps of an expanded recurrence.
constexpr int64_t kMostSteps = 1024;

struct LinearAttentionOperands {
  Formula q, k, v;           // [batch, sequence, heads, size]
  std::optional<Formula> g;  // decay, [batch, sequence, heads, size or 1]
  std::optional<Formula> b;  // beta, [batch, sequence, heads or 1, 1]
  Formula state;             // [batch, heads, size of keys, size of values]
  double scale = 1;
};

Result<LinearAttentionOperands> ReadLinearAttention(const NodeContext& node) {
  TUNEC_ASSIGN(const int64_t q_heads, node.Int("q_num_heads", 0));
  TUNEC_ASSIGN(const int64_t heads, node.Int("kv_num_heads", 0));
  TUNEC_ASSIGN(const double scale, node.Float("scale", 0));
  TUNEC_ASSIGN(const UpdateRule rule, ReadUpdateRule(node));
  const Formula query = In(node, 0);
  const DataType wide = query.type() == DataType::kF64 ? DataType::kF64 : DataType::kF32;
  TUNEC_ASSIGN(const Formula q, SplitHeads(query.Cast(wide), q_heads, "query"));
  TUNEC_ASSIGN(const Formula k, SplitHeads(In(node, 1).Cast(wide), heads, "key"));
  TUNEC_ASSIGN(const Formula v, SplitHeads(In(node, 2).Cast(wide), heads, "value"));
  TUNEC_ASSIGN(const auto q_extents, q.Extents<4>());
  TUNEC_ASSIGN(const auto k_extents, k.Extents<4>());
  TUNEC_ASSIGN(const auto v_extents, v.Extents<4>());
  const auto [batch, steps, all_heads, key_size] = q_extents;
  if (q_heads % heads != 0 || k_extents[3] != key_size || k_extents[1] != steps ||
      v_extents[1] != steps) {
    return Fail(ErrorCode::kInvalidArgument, "query, key and value do not fit each other");
  }
  if (steps > kMostSteps) {
    return Fail(ErrorCode::kUnsupported, "a sequence of {} steps, expected at most {}", steps,
                kMostSteps);
  }
  LinearAttentionOperands operands{
      .q = q,
      .k = k,
      .v = v,
      .g = {},
      .b = {},
      .state = q.Number(0).Expand({batch, heads, key_size, v_extents[3]}),
      .scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(key_size)) : scale};
  if (node.HasInput(3)) {
    TUNEC_RETURN_IF_ERROR(node.RequireRank(node.OptionalInput(3), 4, 4));
    operands.state = In(node, 3).Cast(wide);
  }
  if (rule.decays) {
    TUNEC_ASSIGN(operands.g, SplitHeads(In(node, 4).Cast(wide), heads, "decay"));
  }
  if (rule.corrects) {
    TUNEC_RETURN_IF_ERROR(node.RequireRank(node.OptionalInput(5), 3, 3));
    operands.b = In(node, 5).Cast(wide).Unsqueeze(-1);
  }
  return operands;
}

/// Imports LinearAttention. Each step computes S <- exp(g) S, then u = beta (v - S^T k), then
/// S <- S + k u^T, then y = scale S^T q. Without g there is no decay; without beta, u is v.
Result<Operands> LinearAttention(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const LinearAttentionOperands x, ReadLinearAttention(node));
  TUNEC_ASSIGN(const auto extents, x.q.Extents<4>());
  const auto [batch, steps, query_heads, key_size] = extents;
  TUNEC_ASSIGN(const int64_t heads, x.k.Extent(2));
  TUNEC_ASSIGN(const int64_t value_size, x.v.Extent(3));
  Formula state = x.state;
  std::vector<Formula> outputs;
  for (int64_t step = 0; step < steps; ++step) {
    if (x.g) state = state * Apply(Op::kExp, {x.g->At(1, step)}).Unsqueeze(-1);
    const Formula key = x.k.At(1, step).Unsqueeze(-1);  // [batch, heads, key size, 1]
    Formula value = x.v.At(1, step);
    if (x.b) value = x.b->At(1, step) * (value - Sum(state * key, {2}));
    state = state + key * value.Unsqueeze(2);
    // Each head of keys serves a group of heads of queries.
    const Formula query = x.q.At(1, step).Reshape({batch, heads, query_heads / heads, key_size});
    const Formula y = Matmul(query, state) * x.scale;
    outputs.push_back(y.Reshape({batch, 1, query_heads * value_size}));
  }
  TUNEC_ASSIGN(const Operand query, node.Input(0));
  const DataType state_type = node.HasInput(3) ? node.OptionalInput(3)->type : query->type;
  const Formula y =
      steps > 0 ? Concat(outputs, 1) : x.q.Number(0).Expand({batch, 0, query_heads * value_size});
  return Results({y.Cast(query->type), state.Cast(state_type)});
}

/// Imports a depthwise convolution along the sequence. An optional operand has the last inputs of
/// the previous run. These inputs, or zeros without the operand, come before this run's inputs.
Result<Operands> CausalConvWithState(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand weight, node.Input(1));
  TUNEC_ASSIGN(const std::string activation, node.Choice("activation", {"none", "silu", "swish"}));
  TUNEC_ASSIGN(const auto dims, node.Dims<3>(x));
  TUNEC_ASSIGN(const int64_t channels, node.Extent(x, 1));
  TUNEC_ASSIGN(const auto weight_extents, node.Extents<3>(weight));
  const Dim &batch = dims[0], &sequence = dims[2];
  const int64_t past_length = std::max<int64_t>(0, weight_extents[2] - 1);
  const Formula input(node, x);
  const Formula past =
      node.HasInput(3) ? In(node, 3) : input.Number(0).Expand({batch, channels, past_length});
  const Formula padded = past_length > 0 ? Concat({past, input}, 2) : input;
  std::vector<Formula> operands{padded, In(node, 1)};
  if (node.HasInput(2)) operands.push_back(In(node, 2));
  const Formula y = Apply(Op::kConv, operands, {{"group", channels}});
  return Results({activation == "none" ? y : Apply(Op::kSilu, {y}),
                  padded.Slice(2, sequence, sequence + past_length)});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"CausalConvWithState", 27, CausalConvWithState},
    {"LinearAttention", 27, LinearAttention},
    {"RotaryEmbedding", 23, RotaryEmbedding},
});

}  // namespace

std::span<const Handler> SequenceMixingHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
