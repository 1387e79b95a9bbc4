// The emission of the scalar operators on values in compute form.
#include "jit/emit/state.h"
#include "jit/math/math.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

constexpr double kInfinity = __builtin_inf();

bool IsConstantNumber(Builder& b, IrValue value) { return b.IsFloatConstant(value); }

/// Returns the greater or the smaller of two floats, as `wins` selects; NaN if either is NaN. x86's
/// vmaxps returns its second operand if either operand is NaN. Therefore only a NaN first operand
/// needs a check, and a constant number needs none.
IrValue FloatExtreme(Builder& b, IrValue x, IrValue y, Compare wins) {
  if (IsConstantNumber(b, y)) std::swap(x, y);
  const IrValue extreme = b.Select(b.Cmp(wins, x, y), x, y);
  if (IsConstantNumber(b, x)) return extreme;
  return b.Select(b.Cmp(Compare::kFunordered, x, x), x, extreme);
}

IrValue FloatSign(Builder& b, IrValue x) {
  const IrValue zero = b.Like(x, 0);
  const IrValue one = b.CopySign(b.Like(x, 1), x);
  const IrValue zero_or_nan = b.Not(b.Cmp(Compare::kFgt, b.FAbs(x), zero));
  return b.Select(zero_or_nan, b.FAdd(x, zero), one);  // -0 + 0 is 0
}

IrValue FloatFloorMod(Builder& b, IrValue x, IrValue y) {
  const IrValue rest = EmitFmod(b, x, y);
  const IrValue zero = b.Like(rest, 0);
  const IrValue opposite = b.Xor(b.Cmp(Compare::kFlt, rest, zero), b.Cmp(Compare::kFlt, y, zero));
  const IrValue moved = b.Select(opposite, b.FAdd(rest, y), rest);
  return b.Select(b.Cmp(Compare::kFeq, rest, zero), b.CopySign(zero, b.Splat(y, b.LanesOf(zero))),
                  moved);
}

IrValue FloatOp(Builder& b, ScalarOp op, const std::vector<IrValue>& x) {
  switch (op) {
    case ScalarOp::kAdd:
      return b.FAdd(x[0], x[1]);
    case ScalarOp::kSub:
      return b.FSub(x[0], x[1]);
    case ScalarOp::kMul:
      return b.FMul(x[0], x[1]);
    case ScalarOp::kDiv:
      return b.FDiv(x[0], x[1]);
    case ScalarOp::kFloorMod:
      return FloatFloorMod(b, x[0], x[1]);
    case ScalarOp::kTruncMod:
      return EmitFmod(b, x[0], x[1]);
    case ScalarOp::kPow:
      return EmitPow(b, x[0], x[1]);
    case ScalarOp::kMin:
      return FloatExtreme(b, x[0], x[1], Compare::kFlt);
    case ScalarOp::kMax:
      return FloatExtreme(b, x[0], x[1], Compare::kFgt);
    case ScalarOp::kEq:
      return b.Cmp(Compare::kFeq, x[0], x[1]);
    case ScalarOp::kNe:
      return b.Cmp(Compare::kFne, x[0], x[1]);
    case ScalarOp::kLt:
      return b.Cmp(Compare::kFlt, x[0], x[1]);
    case ScalarOp::kLe:
      return b.Cmp(Compare::kFle, x[0], x[1]);
    case ScalarOp::kNeg:
      return b.FNeg(x[0]);
    case ScalarOp::kAbs:
      return b.FAbs(x[0]);
    case ScalarOp::kSign:
      return FloatSign(b, x[0]);
    case ScalarOp::kExp:
      return EmitExp(b, x[0]);
    case ScalarOp::kLog:
      return EmitLog(b, x[0]);
    case ScalarOp::kExpm1:
      return EmitExpm1(b, x[0]);
    case ScalarOp::kLog1p:
      return EmitLog1p(b, x[0]);
    case ScalarOp::kLog2:
      return EmitLog2(b, x[0]);
    case ScalarOp::kLog10:
      return EmitLog10(b, x[0]);
    case ScalarOp::kGelu:
      return EmitGelu(b, x[0]);
    case ScalarOp::kGeluTanh:
      return EmitGeluTanh(b, x[0]);
    case ScalarOp::kSilu:
      return EmitSilu(b, x[0]);
    case ScalarOp::kMish:
      return EmitMish(b, x[0]);
    case ScalarOp::kSqrt:
      return b.Sqrt(x[0]);
    case ScalarOp::kRsqrt:
      return b.FDiv(b.Like(x[0], 1), b.Sqrt(x[0]));
    case ScalarOp::kTanh:
      return EmitTanh(b, x[0]);
    case ScalarOp::kErf:
      return EmitErf(b, x[0]);
    case ScalarOp::kSin:
      return EmitSin(b, x[0]);
    case ScalarOp::kCos:
      return EmitCos(b, x[0]);
    case ScalarOp::kTan:
      return EmitTan(b, x[0]);
    case ScalarOp::kAsin:
      return EmitAsin(b, x[0]);
    case ScalarOp::kAcos:
      return EmitAcos(b, x[0]);
    case ScalarOp::kAtan:
      return EmitAtan(b, x[0]);
    case ScalarOp::kSinh:
      return EmitSinh(b, x[0]);
    case ScalarOp::kCosh:
      return EmitCosh(b, x[0]);
    case ScalarOp::kAsinh:
      return EmitAsinh(b, x[0]);
    case ScalarOp::kAcosh:
      return EmitAcosh(b, x[0]);
    case ScalarOp::kAtanh:
      return EmitAtanh(b, x[0]);
    case ScalarOp::kFloor:
      return b.Floor(x[0]);
    case ScalarOp::kCeil:
      return b.Ceil(x[0]);
    case ScalarOp::kRound:
      return b.RoundEven(x[0]);
    case ScalarOp::kTrunc:
      return b.Truncate(x[0]);
    case ScalarOp::kIsNan:
      return b.Cmp(Compare::kFunordered, x[0], x[0]);
    case ScalarOp::kIsInf:
      return b.Cmp(Compare::kFeq, b.FAbs(x[0]), b.Like(x[0], kInfinity));
    case ScalarOp::kFma:
      return b.Fma(x[0], x[1], x[2]);
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kShl:
    case ScalarOp::kShr:
    case ScalarOp::kNot:
    case ScalarOp::kSelect:
      break;
  }
  TUNEC_UNREACHABLE("{} of floats", Name(op));
}

struct Division {
  IrValue quotient;
  IrValue remainder;
  IrValue by_zero;
};

/// Divides towards zero and never traps: a divisor of 0 gives the quotient and remainder 0, and the
/// least integer divided by -1 wraps.
Division Divide(Builder& b, IrValue x, IrValue y, bool is_signed) {
  const int lanes = std::max(b.LanesOf(x), b.LanesOf(y));
  x = b.Splat(x, lanes);
  y = b.Splat(y, lanes);
  const IrValue zero = b.IntLike(y, 0);
  const IrValue one = b.IntLike(y, 1);
  const IrValue by_zero = b.Cmp(Compare::kEq, y, zero);
  if (!is_signed) {
    const IrValue safe = b.Select(by_zero, one, y);
    return {b.Select(by_zero, zero, b.UDiv(x, safe)), b.Select(by_zero, zero, b.URem(x, safe)),
            by_zero};
  }
  const IrValue negates = b.Cmp(Compare::kEq, y, b.IntLike(y, -1));
  const IrValue safe = b.Select(b.Or(by_zero, negates), one, y);
  const IrValue quotient = b.Select(negates, b.Sub(zero, x), b.SDiv(x, safe));
  return {b.Select(by_zero, zero, quotient), b.Select(by_zero, zero, b.SRem(x, safe)), by_zero};
}

IrValue IntegerFloorMod(Builder& b, IrValue x, IrValue y, bool is_signed) {
  const Division division = Divide(b, x, y, is_signed);
  if (!is_signed) return division.remainder;
  const IrValue zero = b.IntLike(division.remainder, 0);
  const IrValue opposite = b.Cmp(Compare::kSlt, b.Xor(division.remainder, y), zero);
  const IrValue move = b.And(opposite, b.Cmp(Compare::kNe, division.remainder, zero));
  return b.Select(move, b.Add(division.remainder, y), division.remainder);
}

IrValue Shift(Builder& b, ScalarOp op, IrValue x, IrValue amount, DataType type) {
  const int64_t bits = 8 * static_cast<int64_t>(SizeOf(type));
  const int lanes = std::max(b.LanesOf(x), b.LanesOf(amount));
  x = b.Splat(x, lanes);
  amount = b.Splat(amount, lanes);
  const IrValue in_range = b.Cmp(Compare::kUlt, amount, b.IntLike(amount, bits));
  const IrValue safe = b.Select(in_range, amount, b.IntLike(amount, 0));
  const IrValue zero = b.IntLike(x, 0);
  if (op == ScalarOp::kShl) return b.Select(in_range, b.Shl(x, safe), zero);
  if (!IsSigned(type)) return b.Select(in_range, b.LShr(x, safe), zero);
  return b.Select(in_range, b.AShr(x, safe), b.AShr(x, b.IntLike(x, bits - 1)));
}

/// Emits a power by squaring. With a negative exponent the result is 0, except for the bases 1 and
/// -1.
IrValue IntegerPow(Builder& b, IrValue base, IrValue exponent, DataType type) {
  const int lanes = std::max(b.LanesOf(base), b.LanesOf(exponent));
  base = b.Splat(base, lanes);
  exponent = b.Splat(exponent, lanes);
  const IrValue zero = b.IntLike(base, 0);
  const IrValue one = b.IntLike(base, 1);
  IrValue result = one;
  IrValue power = base;
  for (int bit = 0; bit < 8 * static_cast<int>(SizeOf(type)); ++bit) {
    const IrValue set =
        b.Cmp(Compare::kNe, b.And(b.LShr(exponent, b.IntLike(exponent, bit)), one), zero);
    result = b.Select(set, b.Mul(result, power), result);
    power = b.Mul(power, power);
  }
  if (!IsSigned(type)) return result;
  const IrValue is_one = b.Cmp(Compare::kEq, base, one);
  const IrValue is_minus_one = b.Cmp(Compare::kEq, base, b.IntLike(base, -1));
  const IrValue odd = b.Cmp(Compare::kNe, b.And(exponent, one), zero);
  const IrValue reciprocal =
      b.Select(is_one, one, b.Select(is_minus_one, b.Select(odd, b.IntLike(base, -1), one), zero));
  return b.Select(b.Cmp(Compare::kSlt, exponent, zero), reciprocal, result);
}

IrValue IntegerSign(Builder& b, IrValue x, bool is_signed) {
  const IrValue zero = b.IntLike(x, 0);
  const IrValue positive = b.Select(b.Cmp(Compare::kEq, x, zero), zero, b.IntLike(x, 1));
  return is_signed ? b.Select(b.Cmp(Compare::kSlt, x, zero), b.IntLike(x, -1), positive) : positive;
}

IrValue False(Builder& b, IrValue like) { return b.Cmp(Compare::kNe, like, like); }

IrValue IntegerOp(Builder& b, ScalarOp op, DataType type, const std::vector<IrValue>& x) {
  const bool is_signed = IsSigned(type);
  switch (op) {
    case ScalarOp::kAdd:
      return b.Add(x[0], x[1]);
    case ScalarOp::kSub:
      return b.Sub(x[0], x[1]);
    case ScalarOp::kMul:
      return b.Mul(x[0], x[1]);
    case ScalarOp::kDiv:
      return Divide(b, x[0], x[1], is_signed).quotient;
    case ScalarOp::kFloorMod:
      return IntegerFloorMod(b, x[0], x[1], is_signed);
    case ScalarOp::kTruncMod:
      return Divide(b, x[0], x[1], is_signed).remainder;
    case ScalarOp::kPow:
      return IntegerPow(b, x[0], x[1], type);
    case ScalarOp::kMin:
      return is_signed ? b.SMin(x[0], x[1]) : b.UMin(x[0], x[1]);
    case ScalarOp::kMax:
      return is_signed ? b.SMax(x[0], x[1]) : b.UMax(x[0], x[1]);
    case ScalarOp::kAnd:
      return b.And(x[0], x[1]);
    case ScalarOp::kOr:
      return b.Or(x[0], x[1]);
    case ScalarOp::kXor:
      return b.Xor(x[0], x[1]);
    case ScalarOp::kShl:
    case ScalarOp::kShr:
      return Shift(b, op, x[0], x[1], type);
    case ScalarOp::kEq:
      return b.Cmp(Compare::kEq, x[0], x[1]);
    case ScalarOp::kNe:
      return b.Cmp(Compare::kNe, x[0], x[1]);
    case ScalarOp::kLt:
      return b.Cmp(is_signed ? Compare::kSlt : Compare::kUlt, x[0], x[1]);
    case ScalarOp::kLe:
      return b.Cmp(is_signed ? Compare::kSle : Compare::kUle, x[0], x[1]);
    case ScalarOp::kNeg:
      return b.Sub(b.IntLike(x[0], 0), x[0]);
    case ScalarOp::kAbs:
      return is_signed ? b.SMax(x[0], b.Sub(b.IntLike(x[0], 0), x[0])) : x[0];
    case ScalarOp::kSign:
      return IntegerSign(b, x[0], is_signed);
    case ScalarOp::kNot:
      return b.Not(x[0]);
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kTrunc:
      return x[0];
    case ScalarOp::kIsNan:
    case ScalarOp::kIsInf:
      return False(b, x[0]);
    case ScalarOp::kFma:
      return b.Add(b.Mul(x[0], x[1]), x[2]);
    default:
      break;
  }
  TUNEC_UNREACHABLE("{} of integers", Name(op));
}

IrValue BoolOp(Builder& b, ScalarOp op, const std::vector<IrValue>& x) {
  switch (op) {
    case ScalarOp::kAnd:
    case ScalarOp::kMin:
    case ScalarOp::kMul:
      return b.And(x[0], x[1]);
    case ScalarOp::kOr:
    case ScalarOp::kMax:
    case ScalarOp::kAdd:
      return b.Or(x[0], x[1]);
    case ScalarOp::kXor:
    case ScalarOp::kNe:
      return b.Xor(x[0], x[1]);
    case ScalarOp::kEq:
      return b.Not(b.Xor(x[0], x[1]));
    case ScalarOp::kLt:
      return b.And(b.Not(x[0]), x[1]);
    case ScalarOp::kLe:
      return b.Or(b.Not(x[0]), x[1]);
    case ScalarOp::kNot:
      return b.Not(x[0]);
    case ScalarOp::kIsNan:
    case ScalarOp::kIsInf:
      return False(b, x[0]);
    default:
      break;
  }
  TUNEC_UNREACHABLE("{} of bools", Name(op));
}

}  // namespace

IrValue EmitOp(Builder& b, ScalarOp op, DataType type, const std::vector<IrValue>& operands) {
  if (op == ScalarOp::kSelect) return b.Select(operands[0], operands[1], operands[2]);
  if (IsFloat(type)) return FloatOp(b, op, operands);
  return type == DataType::kBool ? BoolOp(b, op, operands) : IntegerOp(b, op, type, operands);
}

}  // namespace tunec::jit
