// Import of linear quantisation, expanded to (q - zero_point) * scale and its inverse.
#include <array>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

/// Repeats each value of a parameter for the positions of its block along the attribute `axis`. The
/// last block may be shorter.
Formula AlongBlocks(const NodeContext& node, const Formula& parameter, const Operand& x) {
  const auto size = node.Int("block_size", 0);
  const auto axis = node.Axis("axis", 1, x->rank());
  if (!size) return {node, std::unexpected(size.error())};
  if (!axis) return {node, std::unexpected(axis.error())};
  const auto blocks = parameter.Extent(*axis);
  const auto extent = node.Extent(x, *axis);
  if (!blocks) return {node, std::unexpected(blocks.error())};
  if (!extent) return {node, std::unexpected(extent.error())};
  if (*size < 1 || *blocks != *extent / *size + (*extent % *size == 0 ? 0 : 1)) {
    return {node, Fail(ErrorCode::kInvalidArgument, "{} blocks of {} for an axis of {}", *blocks,
                       *size, *extent)};
  }
  std::vector<Dim> shape = parameter.shape();
  shape.insert(shape.begin() + *axis + 1, *size);
  const Formula repeated = parameter.Unsqueeze(*axis + 1).Expand(shape);
  shape.erase(shape.begin() + *axis + 1);
  shape[static_cast<size_t>(*axis)] = MultiplySizes(*blocks, *size);
  return repeated.Reshape(shape).Slice(*axis, 0, *extent);
}

/// Returns a scale or zero point shaped to broadcast to x. `parameter` has one value, one value per
/// position along `axis`, or one value per block of positions.
Result<Operand> AlongAxis(const NodeContext& node, const Operand& parameter, const Operand& x) {
  if (parameter->rank() == 0 || x->rank() == 0) return parameter;
  if (parameter->constant && parameter->constant->size() == 1) return node.Reshape(parameter, {});
  if (parameter->rank() == x->rank() && parameter->rank() != 1) {
    return AlongBlocks(node, Formula(node, parameter), x).Take();
  }
  if (parameter->rank() != 1) {
    return Fail(ErrorCode::kInvalidArgument, "a parameter has rank {}, expected 0, 1 or {}",
                parameter->rank(), x->rank());
  }
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 1, x->rank()));
  std::vector<Dim> shape(static_cast<size_t>(x->rank()), 1);
  TUNEC_ASSIGN(shape[static_cast<size_t>(axis)], node.DimOf(parameter, 0));
  return node.Reshape(parameter, shape);
}

Result<Operands> Dequantize(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand given, node.Input(1));
  TUNEC_ASSIGN(const Operand scale, AlongAxis(node, given, x));
  // The difference of two 8-bit or 16-bit numbers may not fit their type, but fits i32.
  TUNEC_ASSIGN(Operand wide, node.Cast(x, DataType::kI32));
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(const Operand shaped, AlongAxis(node, node.OptionalInput(2), x));
    TUNEC_ASSIGN(const Operand zero, node.Cast(shaped, DataType::kI32));
    TUNEC_ASSIGN(wide, node.Emit(Op::kSub, {wide, zero}));
  }
  // f16 has no integers above 65,504, so only the product is rounded to f16.
  const DataType type = CombinedType({scale->type});
  TUNEC_ASSIGN(const Operand value, node.Cast(wide, type));
  TUNEC_ASSIGN(const Operand factor, node.Cast(scale, type));
  TUNEC_ASSIGN(const Operand product, node.Emit(Op::kMul, {value, factor}));
  TUNEC_ASSIGN(const int64_t output_type, node.Int("output_dtype", 0));
  if (output_type == 0) return One(node.Cast(product, scale->type));
  TUNEC_ASSIGN(const DataType result_type, ElementType(output_type));
  return One(node.Cast(product, result_type));
}

Result<Operands> Quantize(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand given, node.Input(0));
  TUNEC_ASSIGN(const Operand given_scale, node.Input(1));
  const DataType wide = CombinedType({given->type, given_scale->type});
  TUNEC_ASSIGN(const Operand x, node.Cast(given, wide));
  TUNEC_ASSIGN(const Operand shaped, AlongAxis(node, given_scale, x));
  TUNEC_ASSIGN(const Operand scale, node.Cast(shaped, wide));
  DataType type = node.HasInput(2) ? node.OptionalInput(2)->type : DataType::kU8;
  TUNEC_ASSIGN(const int64_t output_type, node.Int("output_dtype", 0));
  if (!node.HasInput(2) && output_type != 0) {
    TUNEC_ASSIGN(type, ElementType(output_type));
  }
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

/// Returns `x` in the type of the zero point: x * factor is rounded, the zero point is added, and
/// the sum is saturated.
Formula Requantized(const Formula& x, const Formula& factor, const Formula& zero_point) {
  const DataType type = zero_point.type();
  const double range = static_cast<double>(int64_t{1} << (8 * SizeOf(type)));
  const double least = IsSigned(type) ? -range / 2 : 0;
  const Formula level = Apply(Op::kRound, {x.Cast(DataType::kF32) * factor});
  return Clamp(level + zero_point.Cast(DataType::kF32), least, least + range - 1).Cast(type);
}

/// Returns QLinearMatMul's a_scale * b_scale / y_scale as f32.
Formula ProductScale(const NodeContext& node) {
  const auto f32 = [&](size_t i) { return In(node, i).Cast(DataType::kF32); };
  return f32(1) * f32(4) / f32(6);
}

/// Returns a quantised operand minus its zero point, as i32. `shape` aligns a list of zero points
/// with an axis.
Formula Levels(const NodeContext& node, size_t input, const OperandShape& shape) {
  const Formula zero = In(node, input + 2).Cast(DataType::kI32);
  const bool per_slice = zero.rank() == 1 && zero.Extent(0) != 1;
  return In(node, input).Cast(DataType::kI32) - (per_slice ? zero.Reshape(shape) : zero);
}

Result<Operands> QLinearMatMul(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operands inputs, node.Inputs());
  if (inputs.size() != 8) return Fail(ErrorCode::kParse, "{} inputs, expected 8", inputs.size());
  TUNEC_ASSIGN(const Dim rows, node.DimOf(inputs[0], -2));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(inputs[3], 2, kMostAxes));
  TUNEC_ASSIGN(const Dim columns, node.DimOf(inputs[3], -1));
  for (const size_t scale : {1, 4, 6}) {
    if (inputs[scale]->shape.Elements() != Dim(1)) {
      return Fail(ErrorCode::kUnsupported, "scales of rows or columns are not supported");
    }
  }
  const Formula product = Matmul(Levels(node, 0, {rows, 1}), Levels(node, 3, {columns}));
  return Results({Requantized(product, ProductScale(node).Reshape({}), In(node, 7).Reshape({}))});
}

/// Imports DynamicQuantizeLinear. The range from min(x, 0) to max(x, 0) is mapped to 0..255.
Result<Operands> DynamicQuantizeLinear(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  const Formula x(node, input);
  const Attributes all{{"axes", AllAxes(x.rank())}, {"keepdims", int64_t{0}}};
  const Formula zero = x.Number(0);
  const Formula most = Max(Apply(Op::kReduceMax, {x}, all), zero);
  const Formula least = Min(Apply(Op::kReduceMin, {x}, all), zero);
  const Formula range = most - least;
  const Formula scale = Where(Equal(range, zero), x.Number(1), range) / 255;
  const Formula zero_point = Apply(Op::kRound, {Clamp(-least / scale, 0, 255)});
  const Formula level = Apply(Op::kRound, {x / scale}) + zero_point;
  return Results({Clamp(level, 0, 255).Cast(DataType::kU8), scale, zero_point.Cast(DataType::kU8)});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"DequantizeLinear", 10, Dequantize},
    {"DynamicQuantizeLinear", 11, DynamicQuantizeLinear},
    {"QLinearMatMul", 10, QLinearMatMul},
    {"QuantizeLinear", 10, Quantize},
});

}  // namespace

std::span<const Handler> QuantizeHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
