// Operators of language models that mix along the sequence, other than attention: rotary
// embeddings, linear attention, causal convolution with a state, caches.
#include <array>
#include <cmath>
#include <optional>

#include "graph/onnx/formula.h"
#include "graph/onnx/handlers.h"

namespace tunec::onnx_import {
namespace {

/// [batch, sequence, heads * size] as [batch, sequence, heads, size].
Result<Formula> SplitHeads(const Formula& x, int64_t heads, std::string_view name) {
  if (!x.ok()) return std::unexpected(x.value().error());
  const std::vector<int64_t> shape = x.shape();
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} has rank {}, wanted 3, the last axis a multiple of {} heads", name,
                shape.size(), heads);
  }
  return x.Reshape({shape[0], shape[1], heads, shape[2] / heads});
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
  const int64_t size = x.shape()[3];
  if (rotated == 0) rotated = size;
  if (rotated < 0 || rotated > size || rotated % 2 != 0) {
    return Fail(ErrorCode::kInvalidArgument, "rotary_embedding_dim is {}, wanted even, at most {}",
                rotated, size);
  }
  std::array<Formula, 2> angles{In(node, 1), In(node, 2)};  // cosines, sines
  for (Formula& angle : angles) {
    if (node.HasInput(3)) angle = Gather(angle, In(node, 3));
    angle = angle.Unsqueeze(heads_first ? 1 : 2);
    if (angle.ok() && 2 * angle.shape().back() != rotated) {
      return Fail(ErrorCode::kInvalidArgument,
                  "{} angles for {} rotated elements, wanted half as many", angle.shape().back(),
                  rotated);
    }
  }
  const Formula y =
      Apply(Op::kRotaryEmbedding, {x, angles[0], angles[1]}, {{"interleaved", interleaved}});
  return Results({heads_first ? y : y.Reshape(input->shape)});
}

/// Which terms the recurrence of linear attention has.
struct UpdateRule {
  bool decays = false;
  bool corrects = false;
};

Result<UpdateRule> ReadUpdateRule(const NodeContext& node) {
  TUNEC_ASSIGN(const std::string name, node.String("update_rule", "gated_delta"));
  const UpdateRule rule{.decays = name.starts_with("gated"), .corrects = name.ends_with("delta")};
  if (name != "linear" && !rule.decays && !rule.corrects) {
    return Fail(ErrorCode::kParse, "update_rule is '{}'", name);
  }
  if (node.HasInput(4) != rule.decays || node.HasInput(5) != rule.corrects) {
    return Fail(ErrorCode::kInvalidArgument, "decay or beta do not fit update_rule '{}'", name);
  }
  return rule;
}

/// Steps of a recurrence that are written out.
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
  const int64_t batch = q.shape()[0];
  const int64_t steps = q.shape()[1];
  const int64_t key_size = k.shape()[3];
  if (q_heads % heads != 0 || q.shape()[3] != key_size || k.shape()[1] != steps ||
      v.shape()[1] != steps) {
    return Fail(ErrorCode::kInvalidArgument, "query, key and value do not fit each other");
  }
  if (steps > kMostSteps) {
    return Fail(ErrorCode::kUnsupported, "a sequence of {} steps, wanted at most {}", steps,
                kMostSteps);
  }
  LinearAttentionOperands operands{
      .q = q,
      .k = k,
      .v = v,
      .g = {},
      .b = {},
      .state = q.Number(0).Expand({batch, heads, key_size, v.shape()[3]}),
      .scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(key_size)) : scale};
  if (node.HasInput(3)) operands.state = In(node, 3).Cast(wide);
  if (rule.decays) {
    TUNEC_ASSIGN(operands.g, SplitHeads(In(node, 4).Cast(wide), heads, "decay"));
  }
  if (rule.corrects) operands.b = In(node, 5).Cast(wide).Unsqueeze(-1);
  return operands;
}

/// One element of axis 1.
Formula At(const Formula& x, int64_t step) {
  std::vector<int64_t> shape = x.shape();
  if (!x.ok()) return x;
  shape.erase(shape.begin() + 1);
  return x.Slice(1, step, step + 1).Reshape(shape);
}

/// S <- exp(g) S + k (beta (v - S^T k))^T, y = scale S^T q, step by step.
Result<Operands> LinearAttention(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const LinearAttentionOperands x, ReadLinearAttention(node));
  const std::vector<int64_t> shape = x.q.shape();
  const int64_t heads = x.k.shape()[2];
  const int64_t value_size = x.v.shape()[3];
  Formula state = x.state;
  std::vector<Formula> outputs;
  for (int64_t step = 0; step < shape[1]; ++step) {
    if (x.g) state = state * Apply(Op::kExp, {At(*x.g, step)}).Unsqueeze(-1);
    const Formula key = At(x.k, step).Unsqueeze(-1);  // [batch, heads, key size, 1]
    Formula value = At(x.v, step);
    if (x.b) value = At(*x.b, step) * (value - Sum(state * key, {2}));
    state = state + key * value.Unsqueeze(2);
    // Each head of keys serves a group of heads of queries.
    const Formula query = At(x.q, step).Reshape({shape[0], heads, shape[2] / heads, shape[3]});
    const Formula y = Matmul(query, state) * x.scale;
    outputs.push_back(y.Reshape({shape[0], 1, shape[2] * value_size}));
  }
  TUNEC_ASSIGN(const Operand query, node.Input(0));
  const DataType state_type = node.HasInput(3) ? node.OptionalInput(3)->type : query->type;
  return Results({Concat(outputs, 1).Cast(query->type), state.Cast(state_type)});
}

/// A depthwise convolution along the sequence whose first inputs are the last ones of before.
Result<Operands> CausalConvWithState(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand weight, node.Input(1));
  TUNEC_ASSIGN(const std::string activation, node.String("activation", "none"));
  if (x->rank() != 3 || weight->rank() != 3) {
    return Fail(ErrorCode::kInvalidArgument, "input and weight have ranks {} and {}, wanted 3",
                x->rank(), weight->rank());
  }
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return Fail(ErrorCode::kParse, "activation is '{}', wanted 'none', 'silu' or 'swish'",
                activation);
  }
  const int64_t kept = weight->shape[2] - 1;
  const Formula input(node, x);
  const Formula past =
      node.HasInput(3) ? In(node, 3) : input.Number(0).Expand({x->shape[0], x->shape[1], kept});
  const Formula padded = kept > 0 ? Concat({past, input}, 2) : input;
  std::vector<Formula> operands{padded, In(node, 1)};
  if (node.HasInput(2)) operands.push_back(In(node, 2));
  const Formula y = Apply(Op::kConv, operands, {{"group", x->shape[1]}});
  const int64_t length = kept + x->shape[2];
  return Results(
      {activation == "none" ? y : Apply(Op::kSilu, {y}), padded.Slice(2, length - kept, length)});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"CausalConvWithState", 27, CausalConvWithState},
    {"LinearAttention", 27, LinearAttention},
    {"RotaryEmbedding", 23, RotaryEmbedding},
});

}  // namespace

std::span<const Handler> SequenceMixingHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
