// Import of normalisations, softmax and hardmax.
#include <array>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

Result<Operands> BatchNorm(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(Operands inputs, node.Inputs());
  TUNEC_ASSIGN(const double epsilon, node.Float("epsilon", 1e-5));
  TUNEC_ASSIGN(const int64_t spatial, node.Int("spatial", 1));
  TUNEC_ASSIGN(const int64_t training, node.Int("training_mode", 0));
  if (spatial != 1) return Fail(ErrorCode::kUnsupported, "spatial=0 is not supported");
  TUNEC_ASSIGN(const int64_t is_test, node.Int("is_test", node.version() < 7 ? 0 : 1));
  bool trains = training != 0 || is_test == 0;
  for (size_t i = 1; i < node.num_outputs(); ++i) trains = trains || node.HasOutput(i);
  if (trains) return Fail(ErrorCode::kUnsupported, "training mode is not supported");
  if (inputs.size() != 5) {
    return Fail(ErrorCode::kParse, "has {} inputs, expected 5", inputs.size());
  }
  // Parameters may be wider than the data (f32 with f16). Narrower parameters are cast to the
  // data's type.
  for (size_t i = 1; i < 5; ++i) {
    if (SizeOf(inputs[i]->type) >= SizeOf(inputs[0]->type)) continue;
    TUNEC_ASSIGN(inputs[i], node.Cast(inputs[i], inputs[0]->type));
  }
  return One(node.Emit(op, inputs, {{"epsilon", epsilon}}));
}

/// Returns the mean and 1 / sqrt(variance + epsilon), the optional outputs of layer normalisation.
/// The attribute stash_type selects their type.
Result<Operands> Moments(const NodeContext& node, const Operand& given, int64_t axis,
                         double epsilon) {
  TUNEC_ASSIGN(const int64_t stash_type, node.Int("stash_type", 1));
  TUNEC_ASSIGN(const DataType stashed, ElementType(stash_type));
  TUNEC_ASSIGN(const Operand x, node.Cast(given, CombinedType({given->type, stashed})));
  std::vector<int64_t> axes = AllAxes(x->rank());
  axes.erase(axes.begin(), axes.begin() + axis);
  const Attributes over{{"axes", axes}, {"keepdims", int64_t{1}}};
  TUNEC_ASSIGN(const Operand mean, node.Emit(Op::kReduceMean, {x}, over));
  TUNEC_ASSIGN(const Operand centered, node.Emit(Op::kSub, {x, mean}));
  TUNEC_ASSIGN(const Operand squared, node.Emit(Op::kMul, {centered, centered}));
  TUNEC_ASSIGN(const Operand variance, node.Emit(Op::kReduceMean, {squared}, over));
  TUNEC_ASSIGN(const Operand shifted,
               node.Emit(Op::kAdd, {variance, node.Scalar(epsilon, x->type)}));
  TUNEC_ASSIGN(const Operand inverse, node.Emit(Op::kRsqrt, {shifted}));
  TUNEC_ASSIGN(const Operand mean_output, node.Cast(mean, stashed));
  TUNEC_ASSIGN(const Operand inverse_output, node.Cast(inverse, stashed));
  return Operands{mean_output, inverse_output};
}

/// Imports LayerNormalization and RMSNormalization. Scale and any bias are expanded to the
/// normalised axes.
Result<Operands> LayerNorm(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", -1, x->rank()));
  TUNEC_ASSIGN(const double epsilon, node.Float("epsilon", 1e-5));
  const std::vector<Dim> normalized = x->shape.Part(static_cast<size_t>(axis));
  Operands inputs{x};
  for (size_t i = 1; i <= (op == Op::kLayerNorm ? 2 : 1); ++i) {
    if (i == 2 && !node.HasInput(i)) break;
    TUNEC_ASSIGN(Operand factor, node.Input(i));
    TUNEC_ASSIGN(factor, node.Expand(factor, normalized));
    inputs.push_back(factor);
  }
  DataType widest = x->type;
  for (const Operand& input : inputs)
    if (SizeOf(input->type) > SizeOf(widest)) widest = input->type;
  for (Operand& input : inputs) {
    TUNEC_ASSIGN(input, node.Cast(input, widest));
  }
  TUNEC_ASSIGN(Operand y, node.Emit(op, inputs, {{"axis", axis}, {"epsilon", epsilon}}));
  TUNEC_ASSIGN(y, node.Cast(y, x->type));
  Operands outputs{y};
  if (node.HasOutput(1) || node.HasOutput(2)) {
    TUNEC_ASSIGN(const Operands moments, Moments(node, x, axis, epsilon));
    outputs.insert(outputs.end(), moments.begin(), moments.end());
  }
  return outputs;
}

Result<Operands> InstanceNorm(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operands inputs, node.Inputs());
  TUNEC_ASSIGN(const double epsilon, node.Float("epsilon", 1e-5));
  return One(node.Emit(op, inputs, {{"epsilon", epsilon}}));
}

/// Imports GroupNormalization. Before opset 21 scale and bias have one value per group, later one
/// per channel.
Result<Operands> GroupNorm(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(Operands inputs, node.Inputs());
  TUNEC_ASSIGN(const double epsilon, node.Float("epsilon", 1e-5));
  TUNEC_ASSIGN(const int64_t groups, node.Int("num_groups", 0));
  if (inputs.size() != 3) {
    return Fail(ErrorCode::kParse, "has {} inputs, expected 3", inputs.size());
  }
  TUNEC_ASSIGN(const int64_t channels, node.Extent(inputs[0], 1));
  if (groups < 1 || channels % groups != 0) {
    return Fail(ErrorCode::kInvalidArgument, "num_groups is {}, expected a divisor of {} channels",
                groups, channels);
  }
  for (size_t i = 1; i < 3 && node.version() < 21; ++i) {
    TUNEC_ASSIGN(const Operand column, node.Reshape(inputs[i], {groups, 1}));
    TUNEC_ASSIGN(const Operand table, node.Expand(column, {groups, channels / groups}));
    TUNEC_ASSIGN(inputs[i], node.Reshape(table, {channels}));
  }
  return One(node.Emit(op, inputs, {{"groups", groups}, {"epsilon", epsilon}}));
}

Result<Operands> Lrn(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t size, node.Int("size", 0));
  TUNEC_ASSIGN(const double alpha, node.Float("alpha", 1e-4));
  TUNEC_ASSIGN(const double beta, node.Float("beta", 0.75));
  TUNEC_ASSIGN(const double bias, node.Float("bias", 1));
  return One(
      node.Emit(op, {x}, {{"size", size}, {"alpha", alpha}, {"beta", beta}, {"bias", bias}}));
}

/// Imports LpNormalization: x divided by its p-norm along an axis, or by 1 where the norm is 0. f16
/// is computed in f32, because squares can overflow f16.
Result<Operands> LpNorm(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand given, node.Input(0));
  TUNEC_ASSIGN(const Operand x, node.Cast(given, CombinedType({given->type})));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", -1, x->rank()));
  TUNEC_ASSIGN(const int64_t p, node.Int("p", 2));
  if (p != 1 && p != 2) return Fail(ErrorCode::kParse, "p is {}, expected 1 or 2", p);
  const Op norm = p == 1 ? Op::kReduceL1 : Op::kReduceL2;
  TUNEC_ASSIGN(
      const Operand length,
      node.Emit(norm, {x}, {{"axes", std::vector<int64_t>{axis}}, {"keepdims", int64_t{1}}}));
  const auto scalar = [&](double value) { return node.Scalar(value, x->type); };
  TUNEC_ASSIGN(const Operand is_zero, node.Emit(Op::kEq, {length, scalar(0)}));
  TUNEC_ASSIGN(const Operand divisor, node.Emit(Op::kWhere, {is_zero, scalar(1), length}));
  TUNEC_ASSIGN(const Operand y, node.Emit(Op::kDiv, {x, divisor}));
  return One(node.Cast(y, given->type));
}

Result<Operands> MeanVarianceNorm(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  TUNEC_ASSIGN(const Operand x, node.Cast(input, CombinedType({input->type})));
  TUNEC_ASSIGN(const std::vector<int64_t> given, node.Ints("axes", {0, 2, 3}));
  TUNEC_ASSIGN(const std::vector<int64_t> axes, NormalizeAxes(given, x->rank()));
  const Attributes over{{"axes", axes}, {"keepdims", int64_t{1}}};
  TUNEC_ASSIGN(const Operand mean, node.Emit(Op::kReduceMean, {x}, over));
  TUNEC_ASSIGN(const Operand centered, node.Emit(Op::kSub, {x, mean}));
  TUNEC_ASSIGN(const Operand squared, node.Emit(Op::kMul, {centered, centered}));
  TUNEC_ASSIGN(const Operand variance, node.Emit(Op::kReduceMean, {squared}, over));
  TUNEC_ASSIGN(const Operand deviation, node.Emit(Op::kSqrt, {variance}));
  TUNEC_ASSIGN(const Operand shifted, node.Emit(Op::kAdd, {deviation, node.Scalar(1e-9, x->type)}));
  TUNEC_ASSIGN(const Operand y, node.Emit(Op::kDiv, {centered, shifted}));
  return One(node.Cast(y, input->type));
}

/// Imports Softmax and LogSoftmax. Before opset 13 the input is treated as a matrix: all axes from
/// `axis` on become one axis.
Result<Operands> Softmax(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  const bool flattens = node.version() < 13;
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", flattens ? 1 : -1, x->rank()));
  if (!flattens || axis == x->rank() - 1) return One(node.Emit(op, {x}, {{"axis", axis}}));
  const auto at = static_cast<size_t>(axis);
  TUNEC_ASSIGN(const Operand matrix,
               node.Reshape(x, {x->shape.Elements(0, at), x->shape.Elements(at)}));
  TUNEC_ASSIGN(const Operand y, node.Emit(op, {matrix}, {{"axis", int64_t{1}}}));
  return One(node.Reshape(y, x->shape));
}

/// Imports Hardmax: 1 at the first greatest element of each row, else 0. Before opset 13 a row has
/// all axes from `axis` on, as for Softmax.
Result<Operands> Hardmax(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  const bool flattens = node.version() < 13;
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", flattens ? 1 : -1, x->rank()));
  Formula rows(node, x);
  const auto at = static_cast<size_t>(axis);
  if (flattens) {
    rows = rows.Reshape({x->shape.Elements(0, at), x->shape.Elements(at)});
  }
  const int64_t along = flattens ? 1 : axis;
  const Formula best = Apply(Op::kArgMax, {rows}, {{"axis", along}, {"keepdims", int64_t{1}}});
  TUNEC_ASSIGN(const Dim extent, rows.DimOf(along));
  std::vector<Dim> shape(rows.shape().size(), 1);
  shape[static_cast<size_t>(along)] = extent;
  const Formula here = Iota(node, 0, extent).Reshape(shape);
  return Results({Equal(best, here).Cast(x->type).Reshape(x->shape)});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"BatchNormalization", 1, BatchNorm, Op::kBatchNorm},
    {"GroupNormalization", 18, GroupNorm, Op::kGroupNorm},
    {"Hardmax", 1, Hardmax, Op::kArgMax},
    {"InstanceNormalization", 6, InstanceNorm, Op::kInstanceNorm},
    {"LRN", 1, Lrn, Op::kLrn},
    {"LayerNormalization", 17, LayerNorm, Op::kLayerNorm},
    {"LogSoftmax", 1, Softmax, Op::kLogSoftmax},
    {"LpNormalization", 1, LpNorm},
    {"MeanVarianceNormalization", 9, MeanVarianceNorm},
    {"RMSNormalization", 23, LayerNorm, Op::kRmsNorm},
    {"Softmax", 1, Softmax, Op::kSoftmax},
});

}  // namespace

std::span<const Handler> NormHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
