// log and its relatives. x = m * 2^e with sqrt(1/2) <= m < sqrt(2); f64 follows fdlibm's e_log.c.
// Largest errors measured: f32 log 2 ulp, f64 log 1 ulp, log1p and the inverse hyperbolic
// functions 4 ulp. pow: f32 1 ulp (by way of f64); f64's relative error grows with
// |y log x| to 2e-13 at the ends of the range.
#include "jit/math/math.h"

namespace tunec::jit {
namespace {

constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");
constexpr double kLn2High32 = 0.693359375;
constexpr double kLn2Low32 = -2.12194440054690582767878e-4;
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;

// (log(1 + f) - f + f^2/2) / f^3
constexpr double kLog32[] = {0.333333311800300481,  -0.24999996957950882,  0.200007157488921017,
                             -0.166678023195012541, 0.142490576456974804,  -0.124256873314511061,
                             0.116854199234867393,  -0.114797338466376356, 0.0697161147145117783};
// fdlibm: log(1+f) = 2s + s*R(s^2), s = f/(2+f)
constexpr double kLog64[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                             2.857142874366239149e-01, 2.222219843214978396e-01,
                             1.818357216161805012e-01, 1.531383769920937332e-01,
                             1.479819860511658591e-01};

struct Split {
  IrValue mantissa;  // minus 1: in [sqrt(1/2) - 1, sqrt(2) - 1)
  IrValue exponent;  // as a float
};

/// For positive finite x, denormals included.
Split SplitFloat(Builder& b, IrValue x) {
  const bool single = b.TypeOf(x).element == Element::kF32;
  const Element bits = single ? Element::kI32 : Element::kI64;
  const Element number = single ? Element::kF32 : Element::kF64;
  const int mantissa_bits = single ? 23 : 52;
  const double least_normal = single ? 0x1p-126 : 0x1p-1022;
  const IrValue small = b.Cmp(Compare::kFlt, x, b.Like(x, least_normal));
  const IrValue lifted = b.Select(small, b.FMul(x, b.Like(x, 0x1p54)), x);
  // Adding 1 - sqrt(1/2) to the bits carries into the exponent exactly when m >= sqrt(2).
  const int64_t offset = single ? 0x3f800000 - 0x3f3504f3 : 0x3ff0000000000000 - 0x3fe6a09e667f3bcd;
  const int64_t half_root = single ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  const int64_t bias = single ? 127 : 1023;
  const IrValue raw = b.Add(b.Bitcast(lifted, bits), b.IntLike(b.Bitcast(lifted, bits), offset));
  IrValue e = b.Sub(b.LShr(raw, b.IntLike(raw, mantissa_bits)), b.IntLike(raw, bias));
  e = b.Select(small, b.Sub(e, b.IntLike(e, 54)), e);
  const IrValue m = b.Add(b.And(raw, b.IntLike(raw, (int64_t{1} << mantissa_bits) - 1)),
                          b.IntLike(raw, half_root));
  const IrValue narrow = single ? e : b.IntTruncate(e, Element::kI32);  // AVX2 has no i64 -> f64
  return {b.FSub(b.Bitcast(m, number), b.Like(x, 1)), b.SignedToFloat(narrow, number)};
}

IrValue LogSingle(Builder& b, const Split& s) {
  const IrValue f = s.mantissa;
  const IrValue square = b.FMul(f, f);
  IrValue sum = b.FMul(b.FMul(square, f), Polynomial(b, f, kLog32));
  sum = b.Fma(s.exponent, b.Like(f, kLn2Low32), sum);
  sum = b.Fma(square, b.Like(f, -0.5), sum);
  return b.Fma(s.exponent, b.Like(f, kLn2High32), b.FAdd(f, sum));
}

IrValue LogDouble(Builder& b, const Split& split) {
  const IrValue f = split.mantissa;
  const IrValue s = b.FDiv(f, b.FAdd(f, b.Like(f, 2)));
  const IrValue z = b.FMul(s, s);
  const IrValue r = b.FMul(z, Polynomial(b, z, kLog64));
  const IrValue half_square = b.FMul(b.FMul(f, f), b.Like(f, 0.5));
  const IrValue low = b.Fma(s, b.FAdd(half_square, r), b.FMul(split.exponent, b.Like(f, kLn2Low)));
  return b.Fma(split.exponent, b.Like(f, kLn2High), b.FSub(f, b.FSub(half_square, low)));
}

}  // namespace

IrValue EmitLog(Builder& b, IrValue x) {
  const Split split = SplitFloat(b, x);
  IrValue result = b.TypeOf(x).element == Element::kF32 ? LogSingle(b, split) : LogDouble(b, split);
  const IrValue zero = b.Like(x, 0);
  const IrValue infinity = b.Like(x, kInfinity);
  result = b.Select(b.Cmp(Compare::kFlt, x, infinity), result, x);  // infinity and NaN stay
  result = b.Select(b.Cmp(Compare::kFlt, x, zero), b.Like(x, kNan), result);
  return b.Select(b.Cmp(Compare::kFeq, x, zero), b.Like(x, -kInfinity), result);
}

// log(u) with u = 1 + x rounded, corrected by what the rounding lost.
IrValue EmitLog1p(Builder& b, IrValue x) {
  const IrValue u = b.FAdd(x, b.Like(x, 1));
  const IrValue lost = b.FSub(x, b.FSub(u, b.Like(x, 1)));
  const IrValue log = EmitLog(b, u);
  const IrValue corrected = b.FAdd(log, b.FDiv(lost, u));
  const IrValue finite =
      b.And(b.Cmp(Compare::kFgt, u, b.Like(x, 0)), b.Cmp(Compare::kFlt, u, b.Like(x, kInfinity)));
  const IrValue result = b.Select(finite, corrected, log);
  return b.Select(b.Cmp(Compare::kFlt, b.FAbs(x), b.Like(x, 0x1p-54)), x, result);
}

IrValue EmitAsinh(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const IrValue size = b.FAbs(y);
    const IrValue one = b.Like(y, 1);
    const IrValue square = b.FMul(size, size);
    const IrValue root = b.Sqrt(b.FAdd(square, one));
    const IrValue near = EmitLog1p(b, b.FAdd(size, b.FDiv(square, b.FAdd(root, one))));
    const IrValue far = b.FAdd(EmitLog(b, size), b.Like(y, 0.693147180559945309417));
    return b.CopySign(b.Select(b.Cmp(Compare::kFgt, size, b.Like(y, 0x1p28)), far, near), y);
  });
}

IrValue EmitAcosh(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const IrValue t = b.FSub(y, b.Like(y, 1));
    const IrValue near = EmitLog1p(b, b.FAdd(t, b.Sqrt(b.Fma(t, t, b.FAdd(t, t)))));
    const IrValue far = b.FAdd(EmitLog(b, y), b.Like(y, 0.693147180559945309417));
    const IrValue result = b.Select(b.Cmp(Compare::kFgt, y, b.Like(y, 0x1p28)), far, near);
    return b.Select(b.Cmp(Compare::kFlt, t, b.Like(y, 0)), b.Like(y, kNan), result);
  });
}

IrValue EmitAtanh(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const IrValue size = b.FAbs(y);
    const IrValue ratio = b.FDiv(b.FAdd(size, size), b.FSub(b.Like(y, 1), size));
    const IrValue result = b.FMul(b.Like(y, 0.5), EmitLog1p(b, ratio));
    return b.CopySign(b.Select(b.Cmp(Compare::kFgt, size, b.Like(y, 1)), b.Like(y, kNan), result),
                      y);
  });
}

namespace {

/// y is an odd integer / any integer (of finite y).
IrValue IsInteger(Builder& b, IrValue y) { return b.Cmp(Compare::kFeq, b.Truncate(y), y); }

IrValue PowDouble(Builder& b, IrValue x, IrValue y) {
  const IrValue zero = b.Like(x, 0);
  const IrValue one = b.Like(x, 1);
  const IrValue size = b.FAbs(x);
  const IrValue magnitude = EmitExp(b, b.FMul(y, EmitLog(b, size)));
  const IrValue whole = IsInteger(b, y);
  const IrValue half = b.FMul(y, b.Like(y, 0.5));
  const IrValue odd = b.And(whole, b.Not(IsInteger(b, half)));
  const IrValue negative = b.Cmp(Compare::kFlt, b.CopySign(one, x), zero);
  IrValue result = b.Select(b.And(negative, odd), b.FNeg(magnitude), magnitude);
  // A negative finite base with an exponent that is no integer has no real power.
  const IrValue undefined =
      b.And(b.And(b.Cmp(Compare::kFlt, x, zero), b.Cmp(Compare::kFgt, x, b.Like(x, -kInfinity))),
            b.Cmp(Compare::kFne, b.Truncate(y), y));
  result = b.Select(undefined, b.Like(x, kNan), result);
  const IrValue infinite = b.Cmp(Compare::kFeq, b.FAbs(y), b.Like(y, kInfinity));
  result = b.Select(b.And(b.Cmp(Compare::kFeq, size, one), infinite), one, result);
  return b.Select(b.Or(b.Cmp(Compare::kFeq, y, zero), b.Cmp(Compare::kFeq, x, one)), one, result);
}

}  // namespace

IrValue EmitPow(Builder& b, IrValue x, IrValue y) {
  const int lanes = std::max(b.LanesOf(x), b.LanesOf(y));
  x = b.Splat(x, lanes);
  y = b.Splat(y, lanes);
  if (b.TypeOf(x).element == Element::kF64) return PowDouble(b, x, y);
  const IrValue wide =
      PowDouble(b, b.FloatExtend(x, Element::kF64), b.FloatExtend(y, Element::kF64));
  return b.FloatTruncate(wide, Element::kF32);
}

}  // namespace tunec::jit
