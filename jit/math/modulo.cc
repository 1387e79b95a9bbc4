// The function fmod of C. Each round removes the leading 51 bits of the quotient, two bits fewer
// than a double has. The fused multiply-add then computes the remainder exactly, despite the
// rounding of the division. The remainder is at most one unit of the cut quotient times the
// divisor, of either sign.
#include <algorithm>

#include "jit/math/math.h"

namespace tunec::jit {
namespace {

constexpr double kInfinity = __builtin_inf();
constexpr int kRounds = 6;  // quotients up to 2^300: all of f32

IrValue FmodDouble(Builder& b, IrValue x, IrValue y) {
  const IrValue divisor = b.FAbs(y);
  IrValue rest = b.FAbs(x);
  for (int round = 0; round < kRounds; ++round) {
    const IrValue bits = b.Bitcast(b.Truncate(b.FDiv(rest, divisor)), Element::kI64);
    const IrValue quotient = b.Bitcast(b.And(bits, b.IntLike(bits, -4)), Element::kF64);
    rest = b.Fma(b.FNeg(quotient), divisor, rest);
  }
  rest = b.Select(b.Cmp(Compare::kFlt, rest, b.Like(x, 0)), b.FAdd(rest, divisor), rest);
  rest = b.CopySign(rest, x);
  const IrValue whole_divisor = b.Cmp(Compare::kFeq, divisor, b.Like(x, kInfinity));
  const IrValue finite = b.Cmp(Compare::kFlt, b.FAbs(x), b.Like(x, kInfinity));
  return b.Select(b.And(whole_divisor, finite), x, rest);
}

}  // namespace

IrValue EmitFmod(Builder& b, IrValue x, IrValue y) {
  const int lanes = std::max(b.LanesOf(x), b.LanesOf(y));
  x = b.Splat(x, lanes);
  y = b.Splat(y, lanes);
  if (b.TypeOf(x).element == Element::kF64) return FmodDouble(b, x, y);
  const IrValue wide =
      FmodDouble(b, b.FloatExtend(x, Element::kF64), b.FloatExtend(y, Element::kF64));
  return b.FloatTruncate(wide, Element::kF32);
}

}  // namespace tunec::jit
