// Import of elementwise operators with several operands and numpy's broadcasting.
#include <algorithm>
#include <array>

#include "graph/onnx/handlers/handlers.h"
#include "ir/rounding.h"

namespace tunec::onnx_import {
namespace {

/// Returns the right operand. Before opset 7 its axes could correspond to the left operand's axes
/// from `axis` on.
Result<Operand> RightOperand(const NodeContext& node) {
  TUNEC_ASSIGN(const Operand left, node.Input(0));
  TUNEC_ASSIGN(Operand right, node.Input(1));
  if (node.version() >= 7 || !node.HasAttribute("axis")) return right;
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 0, left->rank()));
  const int64_t behind = left->rank() - axis - right->rank();
  if (behind < 0) {
    return Fail(ErrorCode::kInvalidArgument, "the right operand of rank {} does not fit at axis {}",
                right->rank(), axis);
  }
  std::vector<Dim> shape = right->shape;
  shape.insert(shape.end(), static_cast<size_t>(behind), 1);
  return node.Reshape(right, shape);
}

Result<Operands> Binary(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand a, node.Input(0));
  TUNEC_ASSIGN(const Operand b, RightOperand(node));
  return One(node.Emit(op, {a, b}));
}

/// Folds the operands from the left. A single operand is returned unchanged.
Result<Operand> Chain(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operands inputs, node.Inputs());
  Operand result = inputs.front();
  for (size_t i = 1; i < inputs.size(); ++i) {
    TUNEC_ASSIGN(result, node.Emit(op, {result, inputs[i]}));
  }
  return result;
}

Result<Operands> Variadic(const NodeContext& node, Op op) { return One(Chain(node, op)); }

Result<Operands> Mean(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand sum, Chain(node, Op::kAdd));
  const auto count = static_cast<double>(node.num_inputs());
  return One(node.Emit(Op::kDiv, {sum, node.Scalar(count, sum->type)}));
}

/// Returns whether the operand is a constant and the type can represent all its elements.
bool Holds(DataType type, const Operand& operand) {
  if (!operand->constant) return false;
  const Array& array = *operand->constant;
  for (int64_t i = 0; i < array.size(); ++i)
    if (RoundTo(array.GetDouble(i), type) != array.GetDouble(i)) return false;
  return true;
}

/// Returns the type in which a power with a float base is computed.
DataType PowerType(const Operand& base, const Operand& exponent) {
  const DataType type = base->type;
  if (exponent->type == type || Holds(type, exponent)) return type;
  return CombinedType({type, exponent->type});
}

/// Imports Pow. The exponent may have another type than the base; the result has the base's type.
Result<Operands> Pow(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand base, node.Input(0));
  TUNEC_ASSIGN(const Operand exponent, RightOperand(node));
  if (!IsFloat(base->type) && IsFloat(exponent->type)) {
    TUNEC_ASSIGN(const Operand wide, node.Cast(base, exponent->type));
    TUNEC_ASSIGN(const Operand power, node.Emit(op, {wide, exponent}));
    return One(node.Cast(power, base->type));
  }
  const DataType type = IsFloat(base->type) ? PowerType(base, exponent) : base->type;
  TUNEC_ASSIGN(const Operand left, node.Cast(base, type));
  TUNEC_ASSIGN(const Operand right, node.Cast(exponent, type));
  TUNEC_ASSIGN(const Operand power, node.Emit(op, {left, right}));
  return One(node.Cast(power, base->type));
}

Result<Operands> Mod(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand a, node.Input(0));
  TUNEC_ASSIGN(const Operand b, node.Input(1));
  TUNEC_ASSIGN(const int64_t fmod, node.Int("fmod", 0));
  return One(node.Emit(op, {a, b}, {{"fmod", fmod}}));
}

Result<Operands> BitShift(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand a, node.Input(0));
  TUNEC_ASSIGN(const Operand b, node.Input(1));
  TUNEC_ASSIGN(const std::string direction, node.String("direction", ""));
  if (direction != "LEFT" && direction != "RIGHT") {
    return Fail(ErrorCode::kParse, "direction is '{}', expected 'LEFT' or 'RIGHT'", direction);
  }
  return One(node.Emit(direction == "LEFT" ? Op::kShl : Op::kShr, {a, b}));
}

/// Returns whether the shape of `from` broadcasts to that of `to`. Fails with kUnsupported if this
/// depends on named sizes.
Result<bool> Broadcasts(const NodeContext& node, const Operand& from, const Operand& to) {
  if (from->rank() > to->rank()) return false;
  for (int64_t axis = 1; axis <= from->rank(); ++axis) {
    TUNEC_ASSIGN(const Dim have, node.DimOf(from, -axis));
    TUNEC_ASSIGN(const Dim target, node.DimOf(to, -axis));
    if (have == Dim(1)) continue;
    TUNEC_ASSIGN(const bool are_equal, node.AreEqual(have, target));
    if (!are_equal) return false;
  }
  return true;
}

/// Imports PRelu. Some exporters write one slope per channel as [channels]. Such a slope becomes
/// [channels, 1, ...] if numpy's rule does not broadcast it to x.
Result<Operands> Prelu(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(Operand slope, node.Input(1));
  TUNEC_ASSIGN(const bool broadcasts, Broadcasts(node, slope, x));
  if (!broadcasts && slope->rank() == 1 && x->rank() > 2) {
    std::vector<Dim> shape(static_cast<size_t>(x->rank() - 1), 1);
    TUNEC_ASSIGN(shape.front(), node.DimOf(slope, 0));
    TUNEC_ASSIGN(slope, node.Reshape(slope, shape));
  }
  return One(node.Emit(op, {x, slope}));
}

Result<Operands> Where(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand condition, node.Input(0));
  TUNEC_ASSIGN(const Operand then, node.Input(1));
  TUNEC_ASSIGN(const Operand otherwise, node.Input(2));
  return One(node.Emit(op, {condition, then, otherwise}));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Add", 1, Binary, Op::kAdd},       {"And", 1, Binary, Op::kAnd},
    {"BitShift", 11, BitShift},         {"BitwiseAnd", 18, Binary, Op::kAnd},
    {"BitwiseOr", 18, Binary, Op::kOr}, {"BitwiseXor", 18, Binary, Op::kXor},
    {"Div", 1, Binary, Op::kDiv},       {"Equal", 1, Binary, Op::kEq},
    {"Greater", 1, Binary, Op::kGt},    {"GreaterOrEqual", 12, Binary, Op::kGe},
    {"Less", 1, Binary, Op::kLt},       {"LessOrEqual", 12, Binary, Op::kLe},
    {"Max", 6, Variadic, Op::kMax},     {"Mean", 6, Mean},
    {"Min", 6, Variadic, Op::kMin},     {"Mod", 10, Mod, Op::kMod},
    {"Mul", 1, Binary, Op::kMul},       {"Or", 1, Binary, Op::kOr},
    {"PRelu", 1, Prelu, Op::kPrelu},    {"Pow", 1, Pow, Op::kPow},
    {"Sub", 1, Binary, Op::kSub},       {"Sum", 6, Variadic, Op::kAdd},
    {"Where", 9, Where, Op::kWhere},    {"Xor", 1, Binary, Op::kXor},
});

}  // namespace

std::span<const Handler> BroadcastHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
