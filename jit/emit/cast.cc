// Conversions between element types, and between the forms of a value in memory and computations.
#include <cstdint>

#include "ir/array.h"
#include "ir/rounding.h"
#include "jit/emit/state.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

bool IsHalf(DataType type) { return type == DataType::kF16 || type == DataType::kBF16; }

/// Returns the bits of the bfloat16 nearest to an f32, ties to even, in the upper half of an i32.
IrValue BFloat16Bits(Builder& b, IrValue value) {
  const IrValue bits = b.Bitcast(value, Element::kI32);
  const IrValue odd = b.And(b.LShr(bits, b.IntLike(bits, 16)), b.IntLike(bits, 1));
  const IrValue rounded = b.Add(b.Add(bits, b.IntLike(bits, 0x7fff)), odd);
  const IrValue quiet = b.Or(bits, b.IntLike(bits, 0x00400000));
  const IrValue is_nan = b.Cmp(Compare::kFunordered, value, value);
  return b.And(b.Select(is_nan, quiet, rounded), b.IntLike(bits, int64_t{0xffff0000}));
}

/// Returns the bfloat16 nearest to an f32, as an f32. Uses bfloat16_rounding if it is set and the
/// number of lanes is a multiple of 16. Denormal numbers may then become 0.
IrValue BFloat16Float(Builder& b, IrValue value) {
  constexpr int kLanes = 16;
  const auto rounding = b.bfloat16_rounding();
  if (rounding == nullptr || b.LanesOf(value) % kLanes != 0)
    return b.Bitcast(BFloat16Bits(b, value), Element::kF32);
  const IrValue wide = b.ZeroExtend(rounding(b, value), Element::kI32);
  return b.Bitcast(b.Shl(wide, b.IntLike(wide, 16)), Element::kF32);
}

/// Converts f64 to f32 so that a later rounding to f16 or to a normal bf16 gives the nearest value:
/// the last bit is set if bits were lost (round to odd).
IrValue NarrowToOdd(Builder& b, IrValue value) {
  const IrValue bits = b.Bitcast(value, Element::kI64);
  const IrValue lost = b.And(bits, b.IntLike(bits, (int64_t{1} << 29) - 1));
  const IrValue sticky = b.ZeroExtend(b.Cmp(Compare::kNe, lost, b.IntLike(bits, 0)), Element::kI64);
  const IrValue high_bits = b.And(bits, b.IntLike(bits, ~((int64_t{1} << 29) - 1)));
  const IrValue odd = b.Or(high_bits, b.Shl(sticky, b.IntLike(bits, 29)));
  const IrValue is_nan = b.Cmp(Compare::kFunordered, value, value);
  return b.FloatTruncate(b.Select(is_nan, value, b.Bitcast(odd, Element::kF64)), Element::kF32);
}

IrValue ToFloat(Builder& b, IrValue value, DataType from, DataType to) {
  const Element wide = to == DataType::kF64 ? Element::kF64 : Element::kF32;
  if (from == DataType::kBool) return b.UnsignedToFloat(value, wide);
  if (IsInteger(from)) {
    const bool exact = IsHalf(to) && SizeOf(from) >= 4;  // computed in f64, rounded once
    const Element first = exact ? Element::kF64 : wide;
    const IrValue number =
        IsSigned(from) ? b.SignedToFloat(value, first) : b.UnsignedToFloat(value, first);
    return RoundToType(b, exact ? NarrowToOdd(b, number) : number, to);
  }
  if (from == DataType::kF64 && to == DataType::kF32) return b.FloatTruncate(value, Element::kF32);
  if (from == DataType::kF64) return RoundToType(b, NarrowToOdd(b, value), to);
  if (to == DataType::kF64) return b.FloatExtend(value, Element::kF64);
  return RoundToType(b, value, to);
}

/// Returns the integer type that a float is converted to first: x86 converts to at least 32 bits.
Element ConvertedElement(DataType to) {
  return SizeOf(to) < 4 ? Element::kI32 : ComputeElement(to);
}

/// Emits a signed conversion; `end` is 2^31 or 2^63. A value that does not fit becomes -end, even
/// on machines whose instruction saturates.
IrValue ConvertSigned(Builder& b, IrValue value, Element element, double end,
                      const FloatRange& range) {
  const IrValue least = b.Like(value, -end);
  const bool fits = range.lo > -end && range.hi < end;
  if (!fits)
    value = b.Select(b.Cmp(Compare::kFlt, b.FAbs(value), b.Like(value, end)), value, least);
  if (fits && range.may_be_nan)
    value = b.Select(b.Cmp(Compare::kFunordered, value, value), least, value);
  return b.FloatToSigned(value, element);
}

/// Emits an unsigned conversion. `end` is subtracted from a value of at least `end`, and is added
/// back after the conversion, as the highest bit of the result.
IrValue ConvertUnsigned(Builder& b, IrValue value, Element element, double end,
                        const FloatRange& range) {
  if (range.hi < end) return ConvertSigned(b, value, element, end, range);
  const IrValue above = b.Cmp(Compare::kFge, value, b.Like(value, end));
  value = b.Select(above, b.FSub(value, b.Like(value, end)), value);
  const IrValue low = ConvertSigned(b, value, element, end, FloatRange{});
  const IrValue highest = b.IntLike(low, end == 0x1p31 ? INT32_MIN : INT64_MIN);
  return b.Select(above, b.Xor(low, highest), low);
}

/// Emits the conversion that CastToInt (ir/rounding.h) defines.
IrValue FloatToInteger(Builder& b, IrValue value, DataType to, const FloatRange& range) {
  const Element element = ConvertedElement(to);
  const double end = element == Element::kI32 ? 0x1p31 : 0x1p63;
  const bool has_sign = IsSigned(to) || SizeOf(to) < 4;
  const IrValue whole = has_sign ? ConvertSigned(b, value, element, end, range)
                                 : ConvertUnsigned(b, value, element, end, range);
  return b.IntTruncate(whole, ComputeElement(to));
}

IrValue ToInteger(Builder& b, IrValue value, DataType from, DataType to, const FloatRange& range) {
  const Element element = ComputeElement(to);
  if (from == DataType::kBool) return b.ZeroExtend(value, element);
  if (IsFloat(from)) return FloatToInteger(b, value, to, range);
  if (SizeOf(to) < SizeOf(from)) return b.IntTruncate(value, element);
  if (SizeOf(to) == SizeOf(from)) return value;
  return IsSigned(from) ? b.SignExtend(value, element) : b.ZeroExtend(value, element);
}

}  // namespace

Element ComputeElement(DataType type) {
  switch (type) {
    case DataType::kF32:
    case DataType::kF16:
    case DataType::kBF16:
      return Element::kF32;
    case DataType::kF64:
      return Element::kF64;
    case DataType::kI8:
    case DataType::kU8:
      return Element::kI8;
    case DataType::kI16:
    case DataType::kU16:
      return Element::kI16;
    case DataType::kI32:
    case DataType::kU32:
      return Element::kI32;
    case DataType::kI64:
    case DataType::kU64:
      return Element::kI64;
    case DataType::kBool:
      return Element::kI1;
  }
  TUNEC_UNREACHABLE("data type {}", static_cast<int>(type));
}

Element MemoryElement(DataType type) {
  if (type == DataType::kF16) return Element::kF16;
  if (type == DataType::kBF16) return Element::kI16;
  if (type == DataType::kBool) return Element::kI8;
  return ComputeElement(type);
}

IrValue RoundToType(Builder& b, IrValue value, DataType type) {
  if (type == DataType::kF16)
    return b.FloatExtend(b.FloatTruncate(value, Element::kF16), Element::kF32);
  if (type == DataType::kBF16) return BFloat16Float(b, value);
  return value;
}

IrValue ToMemory(Builder& b, IrValue value, DataType type) {
  if (type == DataType::kBool) return b.ZeroExtend(value, Element::kI8);
  if (type == DataType::kF16) return b.FloatTruncate(value, Element::kF16);
  if (type != DataType::kBF16) return value;
  const IrValue bits = b.Bitcast(value, Element::kI32);  // the value has been rounded
  return b.IntTruncate(b.LShr(bits, b.IntLike(bits, 16)), Element::kI16);
}

IrValue FromMemory(Builder& b, IrValue value, DataType type) {
  if (type == DataType::kBool) return b.Cmp(Compare::kNe, value, b.IntLike(value, 0));
  if (type == DataType::kF16) return b.FloatExtend(value, Element::kF32);
  if (type != DataType::kBF16) return value;
  const IrValue wide = b.ZeroExtend(value, Element::kI32);
  return b.Bitcast(b.Shl(wide, b.IntLike(wide, 16)), Element::kF32);
}

IrValue MemoryConstant(Builder& b, DataType type, double value) {
  if (type == DataType::kBF16)
    return b.Int(Element::kI16, FloatToBFloat16(static_cast<float>(value)));
  if (IsFloat(type)) return b.Float(MemoryElement(type), value);
  if (type == DataType::kBool) return b.Int(Element::kI8, value != 0);
  return b.Int(MemoryElement(type), Expr::Constant(value, type).node().int_value);
}

IrValue EmitConstant(Builder& b, const ExprNode& node) {
  if (IsFloat(node.type)) return b.Float(ComputeElement(node.type), node.float_value);
  return b.Int(ComputeElement(node.type), node.int_value);
}

IrValue EmitCast(Builder& b, IrValue value, DataType from, DataType to, const FloatRange& range) {
  if (from == to) return value;
  if (to == DataType::kBool) {
    if (IsFloat(from)) return b.Cmp(Compare::kFne, value, b.Like(value, 0));
    return b.Cmp(Compare::kNe, value, b.IntLike(value, 0));
  }
  return IsFloat(to) ? ToFloat(b, value, from, to) : ToInteger(b, value, from, to, range);
}

}  // namespace tunec::jit
