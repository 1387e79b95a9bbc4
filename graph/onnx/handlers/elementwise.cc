// Import of elementwise operators, most of which have one data operand.
#include <array>
#include <optional>
#include <utility>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

/// Emits the operator `op`. The defaults of alpha, beta and gamma are the same as in ONNX.
Result<Operands> Unary(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  Attributes attributes;
  for (const std::string_view name : {"alpha", "beta", "gamma"}) {
    if (!node.HasAttribute(name)) continue;
    TUNEC_ASSIGN(const double value, node.Float(name, 0));
    attributes.emplace(name, value);
  }
  return One(node.Emit(op, {x}, std::move(attributes)));
}

Result<Operands> Identity(const NodeContext& node, Op) { return One(node.Input(0)); }

Result<Operands> Dropout(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t is_test, node.Int("is_test", node.version() < 7 ? 0 : 1));
  if (is_test == 0) return Fail(ErrorCode::kUnsupported, "training mode is not supported");
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(const double training, node.ConstantFloat(2));
    if (training != 0) return Fail(ErrorCode::kUnsupported, "training mode is not supported");
  }
  Operands outputs{x};
  if (node.HasOutput(1)) {
    Array one(node.version() < 10 ? x->type : DataType::kBool, {});
    IsFloat(one.type()) ? one.SetDouble(0, 1) : one.SetInt(0, 1);
    TUNEC_ASSIGN(const Operand mask, node.Full(x->shape, one));
    outputs.push_back(mask);
  }
  return outputs;
}

Result<Operands> Gelu(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::string form, node.Choice("approximate", {"none", "tanh"}));
  return One(node.Emit(op, {x}, {{"approximate", form}}));
}

/// Imports com.microsoft's BiasGelu and FastGelu: gelu of x + bias, or of x if the bias is omitted.
/// FastGelu uses the tanh form.
Result<Operands> BiasGelu(const NodeContext& node, Op) {
  TUNEC_ASSIGN(Operand x, node.Input(0));
  if (node.HasInput(1)) {
    TUNEC_ASSIGN(x, node.Emit(Op::kAdd, {x, node.OptionalInput(1)}));
  }
  Attributes attributes;
  if (node.node().op_type == "FastGelu") attributes.emplace("approximate", std::string("tanh"));
  return One(node.Emit(Op::kGelu, {x}, std::move(attributes)));
}

/// Emits x * sigmoid(alpha x). For SwiGLU, multiplies the result by the second input.
Result<Operands> Swish(const NodeContext& node, Op) {
  const bool is_quick_gelu = node.node().op_type == "QuickGelu";
  TUNEC_ASSIGN(const double alpha, node.Float("alpha", is_quick_gelu ? 1.702 : 1));
  const Formula x = In(node, 0);
  const Formula gate = alpha == 1 ? Apply(Op::kSilu, {x}) : x * Apply(Op::kSigmoid, {x * alpha});
  return Results({node.node().op_type == "SwiGLU" ? gate * In(node, 1) : gate});
}

/// Returns a bound of Clip, or nothing if it is absent.
Result<std::optional<double>> Bound(const NodeContext& node, std::string_view name, size_t input) {
  if (node.version() < 11) {
    if (!node.HasAttribute(name)) return std::nullopt;
    return node.Float(name, 0);
  }
  if (!node.HasInput(input)) return std::nullopt;
  return node.ConstantFloat(input);
}

/// Returns a bound reshaped to rank 0, so that Clip's result has the shape of x. Fails unless the
/// bound has one element.
Result<Operand> BoundOperand(const NodeContext& node, size_t input) {
  TUNEC_ASSIGN(const Operand bound, node.Input(input));
  if (MayBeEqual({bound->shape.Elements()}, {1})) return node.Reshape(bound, {});
  return Fail(ErrorCode::kInvalidArgument, "bound {} has {} elements, expected one", input,
              DimText(bound->shape.Elements()));
}

Result<Operands> ClipToOperands(const NodeContext& node, Operand x) {
  if (node.HasInput(1)) {
    TUNEC_ASSIGN(const Operand least, BoundOperand(node, 1));
    TUNEC_ASSIGN(x, node.Emit(Op::kMax, {x, least}));
  }
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(const Operand most, BoundOperand(node, 2));
    TUNEC_ASSIGN(x, node.Emit(Op::kMin, {x, most}));
  }
  return Operands{x};
}

Result<Operands> Clip(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  const auto is_known = [&](size_t i) {
    return !node.HasInput(i) || node.OptionalInput(i)->constant.has_value();
  };
  // Integer bounds stay operands, because an attribute is a double and could round large integers.
  if (!IsFloat(x->type) || !is_known(1) || !is_known(2)) return ClipToOperands(node, x);
  Attributes attributes;
  TUNEC_ASSIGN(const auto least, Bound(node, "min", 1));
  TUNEC_ASSIGN(const auto most, Bound(node, "max", 2));
  if (least) attributes.emplace("min", *least);
  if (most) attributes.emplace("max", *most);
  return One(node.Emit(op, {x}, std::move(attributes)));
}

Result<Operands> Cast(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  if (node.node().op_type == "CastLike") {
    TUNEC_ASSIGN(const Operand like, node.Input(1));
    return One(node.Cast(x, like->type));
  }
  TUNEC_ASSIGN(const int64_t to, node.Int("to", 0));
  TUNEC_ASSIGN(const DataType type, ElementType(to));
  return One(node.Cast(x, type));
}

/// Imports BitCast. From an integer or bool to an integer of equal size it is a cast, which wraps.
Result<Operands> BitCast(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t to, node.Int("to", 0));
  TUNEC_ASSIGN(const DataType type, ElementType(to));
  if (SizeOf(type) != SizeOf(x->type)) {
    return Fail(ErrorCode::kInvalidArgument, "{} and {} are not of one size", Name(x->type),
                Name(type));
  }
  const bool from_bits = IsInteger(x->type) || x->type == DataType::kBool;
  if (type != x->type && (!from_bits || !IsInteger(type))) {
    return Fail(ErrorCode::kUnsupported, "the bits of {} as {} are not supported", Name(x->type),
                Name(type));
  }
  return One(node.Cast(x, type));
}

Result<Operands> Binarizer(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const double threshold, node.Float("threshold", 0));
  const Formula x = In(node, 0);
  return Results({Less(x.Number(threshold), x).Cast(x.type())});
}

Result<Operands> IsInf(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t negative, node.Int("detect_negative", 1));
  TUNEC_ASSIGN(const int64_t positive, node.Int("detect_positive", 1));
  return One(node.Emit(op, {x}, {{"detect_negative", negative}, {"detect_positive", positive}}));
}

/// Imports Shrink: x + bias below -lambd, x - bias above lambd, else 0.
Result<Operands> Shrink(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const double bias, node.Float("bias", 0));
  TUNEC_ASSIGN(const double lambda, node.Float("lambd", 0.5));
  const auto scalar = [&](double value) { return node.Scalar(value, x->type); };
  TUNEC_ASSIGN(const Operand is_low, node.Emit(Op::kLt, {x, scalar(-lambda)}));
  TUNEC_ASSIGN(const Operand is_high, node.Emit(Op::kGt, {x, scalar(lambda)}));
  TUNEC_ASSIGN(const Operand low, node.Emit(Op::kAdd, {x, scalar(bias)}));
  TUNEC_ASSIGN(const Operand high, node.Emit(Op::kSub, {x, scalar(bias)}));
  TUNEC_ASSIGN(const Operand rest, node.Emit(Op::kWhere, {is_high, high, scalar(0)}));
  return One(node.Emit(Op::kWhere, {is_low, low, rest}));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Abs", 6, Unary, Op::kAbs},
    {"Acos", 7, Unary, Op::kAcos},
    {"Acosh", 9, Unary, Op::kAcosh},
    {"Asin", 7, Unary, Op::kAsin},
    {"Asinh", 9, Unary, Op::kAsinh},
    {"Atan", 7, Unary, Op::kAtan},
    {"Atanh", 9, Unary, Op::kAtanh},
    {"BiasGelu", 1, BiasGelu, Op::kGelu, "com.microsoft"},
    {"Binarizer", 1, Binarizer, Op::kGt, "ai.onnx.ml"},
    {"BitCast", 26, BitCast, Op::kCast},
    {"BitwiseNot", 18, Unary, Op::kNot},
    {"Cast", 6, Cast},
    {"CastLike", 15, Cast},
    {"Ceil", 6, Unary, Op::kCeil},
    {"Celu", 12, Unary, Op::kCelu},
    {"Clip", 6, Clip, Op::kClip},
    {"Cos", 7, Unary, Op::kCos},
    {"Cosh", 9, Unary, Op::kCosh},
    {"Dropout", 1, Dropout},
    {"Elu", 6, Unary, Op::kElu},
    {"Erf", 9, Unary, Op::kErf},
    {"Exp", 6, Unary, Op::kExp},
    {"FastGelu", 1, BiasGelu, Op::kGelu, "com.microsoft"},
    {"Floor", 6, Unary, Op::kFloor},
    {"Gelu", 1, Gelu, Op::kGelu, "com.microsoft"},
    {"Gelu", 20, Gelu, Op::kGelu},
    {"HardSigmoid", 6, Unary, Op::kHardSigmoid},
    {"HardSwish", 14, Unary, Op::kHardSwish},
    {"Identity", 1, Identity},
    {"IsInf", 10, IsInf, Op::kIsInf},
    {"IsNaN", 9, Unary, Op::kIsNan},
    {"LeakyRelu", 6, Unary, Op::kLeakyRelu},
    {"Log", 6, Unary, Op::kLog},
    {"Mish", 18, Unary, Op::kMish},
    {"Neg", 6, Unary, Op::kNeg},
    {"Not", 1, Unary, Op::kNot},
    {"QuickGelu", 1, Swish, Op::kSilu, "com.microsoft"},
    {"Reciprocal", 6, Unary, Op::kReciprocal},
    {"Relu", 6, Unary, Op::kRelu},
    {"Round", 11, Unary, Op::kRound},
    {"Selu", 6, Unary, Op::kSelu},
    {"Shrink", 9, Shrink},
    {"Sigmoid", 6, Unary, Op::kSigmoid},
    {"Sign", 9, Unary, Op::kSign},
    {"Sin", 7, Unary, Op::kSin},
    {"Sinh", 9, Unary, Op::kSinh},
    {"Softplus", 1, Unary, Op::kSoftplus},
    {"Softsign", 1, Unary, Op::kSoftsign},
    {"Sqrt", 6, Unary, Op::kSqrt},
    {"SwiGLU", 28, Swish, Op::kSilu},
    {"Swish", 24, Swish, Op::kSilu},
    {"Tan", 7, Unary, Op::kTan},
    {"Tanh", 6, Unary, Op::kTanh},
    {"ThresholdedRelu", 10, Unary, Op::kThresholdedRelu},
});

}  // namespace

std::span<const Handler> ElementwiseHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
