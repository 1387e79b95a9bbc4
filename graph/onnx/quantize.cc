// Linear quantisation, written out: (q - zero_point) * scale and its inverse.
#include <array>

#include "graph/onnx/handlers.h"

namespace tunec::onnx_import {
namespace {

/// A scale or zero point of one value per slice along `axis`, shaped so that it broadcasts.
Result<Operand> AlongAxis(const NodeContext& node, const Operand& parameter, const Operand& x) {
  if (parameter->rank() == 0 || x->rank() == 0) return parameter;
  if (parameter->constant && parameter->constant->size() == 1) return node.Reshape(parameter, {});
  if (parameter->rank() != 1) {
    return Fail(ErrorCode::kUnsupported, "blocked quantisation is not supported");
  }
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 1, x->rank()));
  std::vector<int64_t> shape(static_cast<size_t>(x->rank()), 1);
  shape[static_cast<size_t>(axis)] = parameter->shape[0];
  return node.Reshape(parameter, shape);
}

Result<Operands> Dequantize(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand given, node.Input(1));
  TUNEC_ASSIGN(const Operand scale, AlongAxis(node, given, x));
  // The difference of two 8-bit numbers does not fit their type; i32 holds all that occur.
  TUNEC_ASSIGN(Operand wide, node.Cast(x, DataType::kI32));
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(const Operand shaped, AlongAxis(node, node.OptionalInput(2), x));
    TUNEC_ASSIGN(const Operand zero, node.Cast(shaped, DataType::kI32));
    TUNEC_ASSIGN(wide, node.Emit(Op::kSub, {wide, zero}));
  }
  TUNEC_ASSIGN(const Operand value, node.Cast(wide, scale->type));
  return One(node.Emit(Op::kMul, {value, scale}));
}

Result<Operands> Quantize(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand given, node.Input(1));
  TUNEC_ASSIGN(const Operand shaped, AlongAxis(node, given, x));
  TUNEC_ASSIGN(const Operand scale, node.Cast(shaped, x->type));
  const DataType type = node.HasInput(2) ? node.OptionalInput(2)->type : DataType::kU8;
  if (SizeOf(type) > 2 || IsFloat(type)) {
    return Fail(ErrorCode::kUnsupported, "quantisation to {} is not supported", Name(type));
  }
  TUNEC_ASSIGN(const Operand ratio, node.Emit(Op::kDiv, {x, scale}));
  TUNEC_ASSIGN(Operand level, node.Emit(Op::kRound, {ratio}));
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(const Operand along, AlongAxis(node, node.OptionalInput(2), x));
    TUNEC_ASSIGN(const Operand zero, node.Cast(along, x->type));
    TUNEC_ASSIGN(level, node.Emit(Op::kAdd, {level, zero}));
  }
  const double range = static_cast<double>(int64_t{1} << (8 * SizeOf(type)));
  const double least = IsSigned(type) ? -range / 2 : 0;
  TUNEC_ASSIGN(const Operand clipped,
               node.Emit(Op::kClip, {level}, {{"min", least}, {"max", least + range - 1}}));
  return One(node.Cast(clipped, type));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"DequantizeLinear", 10, Dequantize},
    {"QuantizeLinear", 10, Quantize},
});

}  // namespace

std::span<const Handler> QuantizeHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
