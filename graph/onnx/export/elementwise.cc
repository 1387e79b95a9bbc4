// Export of elementwise operators as ONNX nodes.
#include <array>
#include <limits>

#include "graph/onnx/export/forms.h"
#include "graph/onnx/export/write_model.h"

namespace tunec::onnx_export {
namespace {

using Written = Result<std::string>;

Written WriteRsqrt(FormContext& node) {
  return node.Emit("Reciprocal", {node.Emit("Sqrt", {node.input(0)})});
}

Written WriteSilu(FormContext& node) {
  return node.Emit("Mul", {node.input(0), node.Emit("Sigmoid", {node.input(0)})});
}

/// Writes exp(x) - 1. Elu computes it for negative x. For other x it is -exp(x) * (exp(-x) - 1).
Written WriteExpm1(FormContext& node) {
  const std::string& x = node.input(0);
  const std::string mirrored = node.Emit("Elu", {node.Emit("Neg", {x})});
  const std::string above = node.Emit("Neg", {node.Emit("Mul", {mirrored, node.Emit("Exp", {x})})});
  const std::string is_below = node.Emit("Less", {x, node.Scalar(0, node.type())});
  return node.Emit("Where", {is_below, node.Emit("Elu", {x}), above});
}

/// Writes log(1 + x). Near 0 it is 2 * atanh(x / (x + 2)), because 1 + x would lose digits.
Written WriteLog1p(FormContext& node) {
  const std::string& x = node.input(0);
  const std::string two = node.Scalar(2, node.type());
  const std::string ratio = node.Emit("Div", {x, node.Emit("Add", {x, two})});
  const std::string near = node.Emit("Mul", {two, node.Emit("Atanh", {ratio})});
  const std::string far = node.Emit("Log", {node.Emit("Add", {x, node.Scalar(1, node.type())})});
  const std::string is_near =
      node.Emit("Less", {node.Emit("Abs", {x}), node.Scalar(0.5, node.type())});
  return node.Emit("Where", {is_near, near, far});
}

Written WriteScaledLog(FormContext& node, double base) {
  const std::string factor = node.Scalar(1 / std::log(base), node.type());
  return node.Emit("Mul", {node.Emit("Log", {node.input(0)}), factor});
}
Written WriteLog2(FormContext& node) { return WriteScaledLog(node, 2); }
Written WriteLog10(FormContext& node) { return WriteScaledLog(node, 10); }

/// Writes ONNX's Celu for float32, the only type that it supports. Otherwise writes its definition
/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
Written WriteCelu(FormContext& node) {
  if (node.type() == DataType::kF32) return WriteWithAttributes(node);
  const std::string& x = node.input(0);
  const std::string zero = node.Scalar(0, node.type());
  const std::string one = node.Scalar(1, node.type());
  const std::string alpha = node.Scalar(node.node().Float("alpha"), node.type());
  const std::string power = node.Emit("Exp", {node.Emit("Div", {x, alpha})});
  const std::string scaled = node.Emit("Mul", {alpha, node.Emit("Sub", {power, one})});
  return node.Emit("Add", {node.Emit("Max", {zero, x}), node.Emit("Min", {zero, scaled})});
}

/// Writes Clip. Its bounds are operands in ONNX; infinite bounds are omitted.
Written WriteClip(FormContext& node) {
  const double least = node.node().Float("min"), most = node.node().Float("max");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto bound = [&](double value, double none) {
    return value == none ? std::string() : node.Scalar(value, node.type());
  };
  const std::string low = bound(least, -kInfinity);
  return node.Emit("Clip", {node.input(0), low, bound(most, kInfinity)});
}

Written WriteCast(FormContext& node) {
  return node.Emit("Cast", {node.input(0)}, {{"to", OnnxTypeOf(node.OutputType().type)}});
}

/// Writes `form().onnx_name` for booleans, and the Bitwise variant for integers.
Written WriteLogical(FormContext& node) {
  const std::string name(node.form().onnx_name);
  return node.Emit(node.type() == DataType::kBool ? name : "Bitwise" + name, node.inputs());
}

Written WriteNotEqual(FormContext& node) {
  return node.Emit("Not", {node.Emit("Equal", node.inputs())});
}

/// Writes Mod. For floats ONNX has only C's fmod, so a floored remainder needs a correction.
Written WriteMod(FormContext& node) {
  const bool fmod = node.node().Int("fmod") != 0;
  const OnnxAttributes with_fmod{{"fmod", int64_t{1}}};
  if (fmod) return node.Emit("Mod", node.inputs(), with_fmod);
  if (!IsFloat(node.type())) return node.Emit("Mod", node.inputs());
  const std::string zero = node.Scalar(0, node.type());
  const std::string rest = node.Emit("Mod", node.inputs(), with_fmod);
  const std::string differs =
      node.Emit("Xor", {node.Emit("Less", {rest, zero}), node.Emit("Less", {node.input(1), zero})});
  const std::string whole = node.Emit("Equal", {rest, zero});
  const std::string wrong = node.Emit("And", {differs, node.Emit("Not", {whole})});
  return node.Emit("Where", {wrong, node.Emit("Add", {rest, node.input(1)}), rest});
}

DataType UnsignedOf(DataType type) {
  switch (SizeOf(type)) {
    case 1:
      return DataType::kU8;
    case 2:
      return DataType::kU16;
    case 4:
      return DataType::kU32;
    default:
      return DataType::kU64;
  }
}

bool IsSignedInteger(DataType type) { return IsInteger(type) && UnsignedOf(type) != type; }

/// Returns whether the shift counts are constants from 0 to one less than the number of bits of the
/// type.
bool ShiftsWithin(const Array* count, DataType type) {
  if (count == nullptr) return false;
  for (int64_t i = 0; i < count->size(); ++i)
    if (count->GetInt(i) < 0 || count->GetInt(i) >= static_cast<int64_t>(8 * SizeOf(type)))
      return false;
  return true;
}

/// The shifted operand x as unsigned bits. For a right shift of a negative x all bits are inverted
/// before and after, so that ones are shifted in.
struct ShiftOperand {
  std::string bits;
  std::string is_negative;  // empty: the bits are not inverted
};

ShiftOperand Unsigned(FormContext& node, DataType to) {
  const DataType type = node.type();
  const std::string& x = node.input(0);
  if (!IsSignedInteger(type) || node.node().op == Op::kShl) return {node.Cast(x, type, to), ""};
  const std::string is_negative = node.Emit("Less", {x, node.Scalar(0, type)});
  const std::string inverted = node.Emit("BitwiseNot", {x});
  const std::string bits = node.Emit("Where", {is_negative, inverted, x});
  return {node.Cast(bits, type, to), is_negative};
}

/// Writes a shift. ONNX shifts only unsigned integers, by less than their number of bits. So
/// operands are cast, and results of other counts are replaced.
Written WriteShift(FormContext& node) {
  const DataType type = node.type(), bits_type = UnsignedOf(type);
  const OnnxAttributes direction{{"direction", std::string(node.form().onnx_name)}};
  const ShiftOperand operand = Unsigned(node, bits_type);
  std::string count = node.Cast(node.input(1), type, bits_type);
  std::string all_out;
  if (!ShiftsWithin(node.ConstantInput(1), type)) {
    const std::string zero = node.Scalar(0, bits_type);
    const std::string width = node.Scalar(8.0 * static_cast<double>(SizeOf(type)), bits_type);
    all_out = node.Emit("GreaterOrEqual", {count, width});
    count = node.Emit("Where", {all_out, zero, count});
  }
  std::string shifted = node.Emit("BitShift", {operand.bits, count}, direction);
  if (!all_out.empty()) shifted = node.Emit("Where", {all_out, node.Scalar(0, bits_type), shifted});
  shifted = node.Cast(shifted, bits_type, type);
  if (operand.is_negative.empty()) return shifted;
  return node.Emit("Where", {operand.is_negative, node.Emit("BitwiseNot", {shifted}), shifted});
}

constexpr auto kForms = std::to_array<ExportForm>({
    {Op::kIdentity, WriteWithoutAttributes, "Identity"},
    {Op::kNeg, WriteWithoutAttributes, "Neg"},
    {Op::kAbs, WriteWithoutAttributes, "Abs"},
    {Op::kSign, WriteWithoutAttributes, "Sign"},
    {Op::kNot, WriteLogical, "Not"},
    {Op::kExp, WriteWithoutAttributes, "Exp"},
    {Op::kExpm1, WriteExpm1},
    {Op::kLog, WriteWithoutAttributes, "Log"},
    {Op::kLog1p, WriteLog1p},
    {Op::kLog2, WriteLog2},
    {Op::kLog10, WriteLog10},
    {Op::kSqrt, WriteWithoutAttributes, "Sqrt"},
    {Op::kRsqrt, WriteRsqrt},
    {Op::kReciprocal, WriteWithoutAttributes, "Reciprocal"},
    {Op::kTanh, WriteWithoutAttributes, "Tanh"},
    {Op::kErf, WriteWithoutAttributes, "Erf"},
    {Op::kSin, WriteWithoutAttributes, "Sin"},
    {Op::kCos, WriteWithoutAttributes, "Cos"},
    {Op::kTan, WriteWithoutAttributes, "Tan"},
    {Op::kAsin, WriteWithoutAttributes, "Asin"},
    {Op::kAcos, WriteWithoutAttributes, "Acos"},
    {Op::kAtan, WriteWithoutAttributes, "Atan"},
    {Op::kSinh, WriteWithoutAttributes, "Sinh"},
    {Op::kCosh, WriteWithoutAttributes, "Cosh"},
    {Op::kAsinh, WriteWithoutAttributes, "Asinh"},
    {Op::kAcosh, WriteWithoutAttributes, "Acosh"},
    {Op::kAtanh, WriteWithoutAttributes, "Atanh"},
    {Op::kFloor, WriteWithoutAttributes, "Floor"},
    {Op::kCeil, WriteWithoutAttributes, "Ceil"},
    {Op::kRound, WriteWithoutAttributes, "Round"},
    {Op::kIsNan, WriteWithoutAttributes, "IsNaN"},
    {Op::kIsInf, WriteWithAttributes, "IsInf"},
    {Op::kRelu, WriteWithoutAttributes, "Relu"},
    {Op::kLeakyRelu, WriteWithAttributes, "LeakyRelu"},
    {Op::kSigmoid, WriteWithoutAttributes, "Sigmoid"},
    {Op::kSilu, WriteSilu},
    {Op::kGelu, WriteWithAttributes, "Gelu"},
    {Op::kElu, WriteWithAttributes, "Elu"},
    {Op::kSelu, WriteWithAttributes, "Selu"},
    {Op::kCelu, WriteCelu, "Celu"},
    {Op::kSoftplus, WriteWithoutAttributes, "Softplus"},
    {Op::kSoftsign, WriteWithoutAttributes, "Softsign"},
    {Op::kHardSigmoid, WriteWithAttributes, "HardSigmoid"},
    {Op::kHardSwish, WriteWithoutAttributes, "HardSwish"},
    {Op::kMish, WriteWithoutAttributes, "Mish"},
    {Op::kThresholdedRelu, WriteWithAttributes, "ThresholdedRelu"},
    {Op::kClip, WriteClip},
    {Op::kCast, WriteCast},
    {Op::kAdd, WriteWithoutAttributes, "Add"},
    {Op::kSub, WriteWithoutAttributes, "Sub"},
    {Op::kMul, WriteWithoutAttributes, "Mul"},
    {Op::kDiv, WriteWithoutAttributes, "Div"},
    {Op::kPow, WriteWithoutAttributes, "Pow"},
    {Op::kMin, WriteWithoutAttributes, "Min"},
    {Op::kMax, WriteWithoutAttributes, "Max"},
    {Op::kMod, WriteMod},
    {Op::kAnd, WriteLogical, "And"},
    {Op::kOr, WriteLogical, "Or"},
    {Op::kXor, WriteLogical, "Xor"},
    {Op::kShl, WriteShift, "LEFT"},
    {Op::kShr, WriteShift, "RIGHT"},
    {Op::kEq, WriteWithoutAttributes, "Equal"},
    {Op::kNe, WriteNotEqual},
    {Op::kLt, WriteWithoutAttributes, "Less"},
    {Op::kLe, WriteWithoutAttributes, "LessOrEqual"},
    {Op::kGt, WriteWithoutAttributes, "Greater"},
    {Op::kGe, WriteWithoutAttributes, "GreaterOrEqual"},
    {Op::kPrelu, WriteWithoutAttributes, "PRelu"},
    {Op::kWhere, WriteWithoutAttributes, "Where"},
});

}  // namespace

std::span<const ExportForm> ElementwiseForms() { return kForms; }

}  // namespace tunec::onnx_export
