// The function log and its relatives. x = m * 2^e with sqrt(1/2) <= m < sqrt(2); f64 follows
// fdlibm's e_log.c. The measured error of log is at most 2 ulp for f32 and 1 ulp for f64. For
// log1p, log2, log10 and inverse hyperbolic functions it is at most 4 ulp. pow of f32 is computed
// in f64, with an error of at most 1 ulp. The relative error of pow of f64 grows with |y log x| to
// 2e-13 at the ends of the range.
#include "jit/math/math.h"

namespace tunec::jit {
namespace {

constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");
constexpr double kLn2High32 = 0.693359375;
constexpr double kLn2Low32 = -2.12194440054690582767878e-4;
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kLog2e = 1.44269504088896340736;
constexpr double kLog10e = 0.434294481903251827651;
constexpr double kLog10Of2High =
    3.01029995663611771306e-01;  // the product with an exponent is exact
constexpr double kLog10Of2Low = 3.69423907715893078616e-13;

// Coefficients of (log(1 + f) - f + f^2/2) / f^3 in f, for f32.
constexpr double kLog32[] = {0.333333311800300481,  -0.24999996957950882,  0.200007157488921017,
                             -0.166678023195012541, 0.142490576456974804,  -0.124256873314511061,
                             0.116854199234867393,  -0.114797338466376356, 0.0697161147145117783};
// Coefficients of R in fdlibm's log(1+f) = 2s + s*R(s^2), s = f/(2+f).
constexpr double kLog64[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                             2.857142874366239149e-01, 2.222219843214978396e-01,
                             1.818357216161805012e-01, 1.531383769920937332e-01,
                             1.479819860511658591e-01};

struct Split {
  IrValue mantissa;  // mantissa minus 1, in [sqrt(1/2) - 1, sqrt(2) - 1)
  IrValue exponent;  // exponent as a float
};

struct FloatForm {
  Element bits;
  Element number;
  int mantissa_bits;
  int64_t bias;
  int64_t half_root;  // bits of sqrt(1/2)
  int64_t offset;     // bits of 1, minus half_root
  double least_normal;
};
constexpr FloatForm kSingleForm{Element::kI32, Element::kF32, 23,      127,
                                0x3f3504f3,    0x4afb0d,      0x1p-126};
constexpr FloatForm kDoubleForm{
    Element::kI64, Element::kF64,      52,
    1023,          0x3fe6a09e667f3bcd, 0x3ff0000000000000 - 0x3fe6a09e667f3bcd,
    0x1p-1022};

const FloatForm& FormOf(Builder& b, IrValue x) {
  return b.TypeOf(x).element == Element::kF32 ? kSingleForm : kDoubleForm;
}

/// A normal positive finite x as an integer exponent and a mantissa minus 1.
struct IntegerSplit {
  IrValue mantissa;
  IrValue exponent;
};

IntegerSplit SplitNormal(Builder& b, IrValue x) {
  const FloatForm& form = FormOf(b, x);
  const IrValue bits = b.Bitcast(x, form.bits);
  // The sum carries into the exponent if the mantissa, in [1, 2), is at least sqrt(2), rounded.
  const IrValue raw = b.Add(bits, b.IntLike(bits, form.offset));
  const IrValue e =
      b.Sub(b.LShr(raw, b.IntLike(raw, form.mantissa_bits)), b.IntLike(raw, form.bias));
  const IrValue m = b.Add(b.And(raw, b.IntLike(raw, (int64_t{1} << form.mantissa_bits) - 1)),
                          b.IntLike(raw, form.half_root));
  return {b.FSub(b.Bitcast(m, form.number), b.Like(x, 1)), e};
}

IrValue ExponentAsFloat(Builder& b, IrValue exponent, const FloatForm& form) {
  const bool single = form.number == Element::kF32;
  // AVX2 has no conversion from i64 to f64.
  const IrValue narrow = single ? exponent : b.IntTruncate(exponent, Element::kI32);
  return b.SignedToFloat(narrow, form.number);
}

/// Splits a positive finite x into mantissa and exponent. x may be denormal.
Split SplitFloat(Builder& b, IrValue x) {
  const FloatForm& form = FormOf(b, x);
  const IrValue small = b.Cmp(Compare::kFlt, x, b.Like(x, form.least_normal));
  const IrValue lifted = b.Select(small, b.FMul(x, b.Like(x, 0x1p54)), x);
  const IntegerSplit split = SplitNormal(b, lifted);
  const IrValue& e = split.exponent;
  const IrValue exponent = b.Select(small, b.Sub(e, b.IntLike(e, 54)), e);
  return {split.mantissa, ExponentAsFloat(b, exponent, form)};
}

/// Splits 1 + x into mantissa and exponent. `sum` is 1 + x after rounding. Unless x is large, the
/// mantissa includes the rounding error of `sum`. x must be finite and greater than -1.
Split SplitOneAnd(Builder& b, IrValue x, IrValue sum) {
  const FloatForm& form = FormOf(b, x);
  const IntegerSplit split = SplitNormal(b, sum);
  const IrValue& e = split.exponent;
  const IrValue lost = b.FSub(x, b.FSub(sum, b.Like(x, 1)));
  // lost * 2^-e is computed as lost/2 * 2^(1 - e): the biased exponent of 2^-e can be negative.
  const IrValue power =
      b.Shl(b.Sub(b.IntLike(e, form.bias + 1), e), b.IntLike(e, form.mantissa_bits));
  const IrValue half = b.FMul(lost, b.Like(x, 0.5));
  const IrValue mantissa = b.Fma(half, b.Bitcast(power, form.number), split.mantissa);
  return {mantissa, ExponentAsFloat(b, e, form)};
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

IrValue LogOf(Builder& b, const Split& split) {
  const bool single = b.TypeOf(split.mantissa).element == Element::kF32;
  return single ? LogSingle(b, split) : LogDouble(b, split);
}

/// Returns `result`, which must be the logarithm, for positive finite x. Returns the special values
/// of the logarithm for all other x.
IrValue WithSpecialValues(Builder& b, IrValue x, IrValue result) {
  const IrValue zero = b.Like(x, 0);
  const IrValue infinity = b.Like(x, kInfinity);
  result = b.Select(b.Cmp(Compare::kFlt, x, infinity), result, x);  // infinity and NaN stay
  result = b.Select(b.Cmp(Compare::kFlt, x, zero), b.Like(x, kNan), result);
  return b.Select(b.Cmp(Compare::kFeq, x, zero), b.Like(x, -kInfinity), result);
}

}  // namespace

IrValue EmitLog(Builder& b, IrValue x) {
  return WithSpecialValues(b, x, LogOf(b, SplitFloat(b, x)));
}

IrValue EmitLog1p(Builder& b, IrValue x) {
  const IrValue one = b.Like(x, 1);
  const IrValue sum = b.FAdd(x, one);
  const IrValue log = WithSpecialValues(b, sum, LogOf(b, SplitOneAnd(b, x, sum)));
  return b.Select(b.Cmp(Compare::kFeq, sum, one), x, log);  // x is tiny or 0
}

// Returns exponent + log(mantissa) * log2(e) for positive finite x. The result is exact for powers
// of two, because the logarithm of the mantissa is 0.
IrValue EmitLog2(Builder& b, IrValue x) {
  const Split split = SplitFloat(b, x);
  const IrValue zero = b.Like(x, 0);
  const IrValue log = LogOf(b, {split.mantissa, zero});
  return WithSpecialValues(b, x, b.Fma(log, b.Like(x, kLog2e), split.exponent));
}

// Follows fdlibm's e_log10.c. The order of its additions makes the result exact for powers of ten.
IrValue EmitLog10(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const Split split = SplitFloat(b, y);
    const IrValue log = LogOf(b, {split.mantissa, b.Like(y, 0)});
    const IrValue low =
        b.Fma(split.exponent, b.Like(y, kLog10Of2Low), b.FMul(log, b.Like(y, kLog10e)));
    const IrValue result = b.Fma(split.exponent, b.Like(y, kLog10Of2High), low);
    return WithSpecialValues(b, y, result);
  });
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

/// Emits the test whether y is an integer. Infinities count as integers.
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
  // A negative finite base with a non-integer exponent has no real power.
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
