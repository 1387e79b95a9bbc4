// The function exp and its relatives. exp(x) = 2^n * exp(r), r = x - n*ln 2, |r| at most slightly
// above ln(2)/2; the polynomials interpolate at Chebyshev nodes (fitted with 60 digits). The
// largest measured errors of f32 are 1 ulp for exp, 2 ulp for expm1, and 4.6 ulp for tanh (from the
// rounding of the two polynomials). For f64 they are 1 ulp for exp, and 3 ulp for expm1, tanh, sinh
// and cosh.
#include "jit/math/math.h"

namespace tunec::jit {
namespace {

constexpr double kInfinity = __builtin_inf();
constexpr double kLog2e = 1.4426950408889634074;

// Coefficients of (exp(r) - 1 - r) / r^2 in r, for f32 and for f64.
constexpr double kExp32[] = {0.5, 0.166665770245623071, 0.0416665546607567419,
                             0.00836317324699992527, 0.0013926176335399584};
constexpr double kExp64[] = {0.5,
                             0.16666666666666671,
                             0.0416666666666666698,
                             0.00833333333332614072,
                             0.00138888888888837523,
                             0.000198412698748010728,
                             0.0000248015873255337786,
                             2.75572554250096129e-6,
                             2.75572736608224657e-7,
                             2.51052066806810602e-8,
                             2.09146795956177351e-9};
// Coefficients of the numerator and denominator of tanh(x)/x in x^2 for f32, |x| <= 9.05.
constexpr double kTanhP[] = {0.999999993301,   0.130822038464,    0.00310192767224,
                             1.11327431966e-5, -2.01354075392e-8, 5.23332304088e-11,
                             -8.3703969267e-14};
constexpr double kTanhQ[] = {1.0, 0.464155308385, 0.0244871309812, 0.000254317151532};

struct ExpConstants {
  double magic;     // adding it rounds to an integer in the low bits
  double ln2_high;  // ln 2 is in two parts; the product of this part with n is exact
  double ln2_low;
  int mantissa_bits;
  double greatest;      // above: infinity
  double overflow;      // slightly above `greatest`
  double least;         // below: zero
  double least_normal;  // below: denormal
  double nearly_denormal;
  int lift;          // for x < nearly_denormal, the result is computed 2^lift times greater
  int bias;          // bias of an exponent in its bits
  int lifting;       // exponent of the power of 2 by which EmitLiftedExp scales up
  double far_above;  // above, expm1 is infinite, and 2^n is not representable
  double far_below;  // below, expm1 rounds to -1
};
constexpr ExpConstants kSingle{12582912.0,
                               0.693145751953125,
                               1.428606820309417232e-6,
                               23,
                               88.72283,
                               90.0,
                               -104.0,
                               -87.336544,
                               -86.0,
                               64,
                               127,
                               64,
                               89.0,
                               -18.0};
constexpr ExpConstants kDouble{6755399441055744.0,
                               6.93147180369123816490e-01,
                               1.90821492927058770002e-10,
                               52,
                               709.782712893383973096,
                               711.0,
                               -746.0,
                               -708.39641853226408,
                               -707.0,
                               128,
                               1023,
                               512,
                               710.0,
                               -38.0};

// The parts of exp(x) = p * 2^n.
struct ExpParts {
  IrValue shifted;  // n in its low bits
  IrValue n;
  IrValue p;
};

const ExpConstants& ConstantsOf(Builder& b, IrValue like) {
  return b.TypeOf(like).element == Element::kF32 ? kSingle : kDouble;
}

// The parts of x = n*ln 2 + r.
struct ReducedArgument {
  IrValue shifted;  // n in its low bits
  IrValue n;
  IrValue r;
};

ReducedArgument Reduce(Builder& b, IrValue x, const ExpConstants& c) {
  const IrValue shifted = b.Fma(x, b.Like(x, kLog2e), b.Like(x, c.magic));
  const IrValue n = b.FSub(shifted, b.Like(x, c.magic));
  const IrValue r = b.Fma(n, b.Like(x, -c.ln2_high), x);
  return {shifted, n, b.Fma(n, b.Like(x, -c.ln2_low), r)};
}

// Splits x*y = n*ln 2 + r. The product is not rounded before n*ln 2 is subtracted.
ReducedArgument ReduceProduct(Builder& b, IrValue x, IrValue y, const ExpConstants& c) {
  const IrValue shifted = b.Fma(b.FMul(x, b.Like(x, kLog2e)), y, b.Like(x, c.magic));
  const IrValue n = b.FSub(shifted, b.Like(x, c.magic));
  const IrValue r = b.Fma(x, y, b.FMul(n, b.Like(x, -c.ln2_high)));
  return {shifted, n, b.Fma(n, b.Like(x, -c.ln2_low), r)};
}

// Emits (exp(r) - 1 - r) / r^2.
IrValue ExpTail(Builder& b, IrValue r) {
  const bool single = b.TypeOf(r).element == Element::kF32;
  return single ? Polynomial(b, r, kExp32) : Polynomial(b, r, kExp64);
}

IrValue ExpOf(Builder& b, IrValue r) {
  return b.Fma(b.FMul(r, r), ExpTail(b, r), b.FAdd(r, b.Like(r, 1)));
}

// Emits 2^(n + more); the low bits of `shifted` are n. The result must be a normal number.
IrValue PowerOf(Builder& b, IrValue shifted, int more, const ExpConstants& c) {
  const bool single = b.TypeOf(shifted).element == Element::kF32;
  IrValue bits = b.Bitcast(shifted, single ? Element::kI32 : Element::kI64);
  bits = b.Add(bits, b.IntLike(bits, c.bias + more));
  bits = b.Shl(bits, b.IntLike(bits, c.mantissa_bits));
  return b.Bitcast(bits, single ? Element::kF32 : Element::kF64);
}

// Emits exp(r) - 1 for f32. The chain of instructions is short, because loops over vectors wait for
// its latency.
IrValue SingleExcess(Builder& b, IrValue r) {
  const auto c = [&](size_t i) { return b.Like(r, kExp32[i]); };
  const IrValue square = b.FMul(r, r);
  const IrValue near = b.Fma(square, b.Fma(r, c(1), c(0)), r);
  const IrValue far = b.Fma(square, c(4), b.Fma(r, c(3), c(2)));
  return b.Fma(b.FMul(square, square), far, near);
}

LiftedExp Lifted(Builder& b, const ReducedArgument& reduced, const ExpConstants& c) {
  const IrValue r = reduced.r;
  const bool single = b.TypeOf(r).element == Element::kF32;
  const IrValue excess = single ? SingleExcess(b, r) : b.Fma(b.FMul(r, r), ExpTail(b, r), r);
  return {excess, PowerOf(b, reduced.shifted, c.lifting, c), __builtin_ldexp(1.0, -c.lifting)};
}

ExpParts SplitExp(Builder& b, IrValue x, const ExpConstants& c) {
  const ReducedArgument reduced = Reduce(b, x, c);
  return {reduced.shifted, reduced.n, ExpOf(b, reduced.r)};
}

// The treatment of denormal results.
enum class Denormals { kExact, kFlushed };

// Emits p * 2^n by integer instructions; infinite where the result is too large. With kFlushed,
// results that would be denormal have any value.
IrValue JoinByBits(Builder& b, IrValue x, const ExpParts& parts, const ExpConstants& c,
                   Denormals denormals) {
  const bool single = b.TypeOf(x).element == Element::kF32;
  const Element bits = single ? Element::kI32 : Element::kI64;
  const Element number = single ? Element::kF32 : Element::kF64;
  // The low bits of `shifted` are n. Adding n to the exponent of p multiplies p by 2^n. If 2^n is
  // tiny, n is increased by `lift`, and the result is multiplied by 2^-lift.
  const bool lifts = denormals == Denormals::kExact;
  const IrValue tiny =
      lifts ? b.Cmp(Compare::kFlt, x, b.Like(x, c.nearly_denormal)) : IrValue(nullptr);
  IrValue exponent = b.Bitcast(parts.shifted, bits);
  if (lifts) exponent = b.Select(tiny, b.Add(exponent, b.IntLike(exponent, c.lift)), exponent);
  exponent = b.Shl(exponent, b.IntLike(exponent, c.mantissa_bits));
  IrValue result = b.Bitcast(b.Add(b.Bitcast(parts.p, bits), exponent), number);
  if (lifts) {
    const IrValue lowered = b.FMul(result, b.Like(x, __builtin_ldexp(1.0, -c.lift)));
    result = b.Select(tiny, lowered, result);
  }
  const IrValue beyond = b.FAdd(x, b.Like(x, kInfinity));  // infinity or NaN
  return b.Select(b.Cmp(Compare::kFle, x, b.Like(x, c.greatest)), result, beyond);
}

IrValue EmitExp(Builder& b, IrValue x, Denormals denormals) {
  const ExpConstants& c = ConstantsOf(b, x);
  IrValue above = x;
  if (denormals == Denormals::kExact) {
    const IrValue low = b.Like(x, c.least);
    above = b.Select(b.Cmp(Compare::kFgt, low, x), low, x);  // NaN stays
  }
  if (!b.ScalesByPower(b.TypeOf(x))) {
    return JoinByBits(b, x, SplitExp(b, above, c), c, denormals);
  }
  const IrValue high = b.Like(x, c.overflow);
  const IrValue within = b.Select(b.Cmp(Compare::kFlt, high, above), high, above);
  const ExpParts parts = SplitExp(b, within, c);
  return b.ScaleByPower(parts.p, parts.n);
}

}  // namespace

IrValue Polynomial(Builder& b, IrValue x, std::span<const double> coefficients) {
  IrValue sum = b.Like(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = b.Fma(sum, x, b.Like(x, coefficients[i]));
  return sum;
}

IrValue EmitExp(Builder& b, IrValue x) { return EmitExp(b, x, Denormals::kExact); }

IrValue EmitFlushedExp(Builder& b, IrValue x) {
  const IrValue result = EmitExp(b, x, Denormals::kFlushed);
  const IrValue least_normal = b.Like(x, ConstantsOf(b, x).least_normal);
  return b.Select(b.Cmp(Compare::kFlt, x, least_normal), b.Like(x, 0), result);
}

// Emits 2^n*q + (2^n - 1) with q = exp(r) - 1. The code uses 2^n/2, which does not overflow.
IrValue EmitExpm1(Builder& b, IrValue x) {
  const ExpConstants& c = ConstantsOf(b, x);
  const IrValue low = b.Like(x, c.far_below);
  const IrValue high = b.Like(x, c.far_above);
  IrValue within = b.Select(b.Cmp(Compare::kFgt, low, x), low, x);  // NaN stays
  within = b.Select(b.Cmp(Compare::kFlt, high, within), high, within);
  const ReducedArgument reduced = Reduce(b, within, c);
  const IrValue r = reduced.r;
  const IrValue q = b.FMul(r, b.Fma(r, ExpTail(b, r), b.Like(x, 1)));
  const IrValue half_power = PowerOf(b, reduced.shifted, -1, c);
  const IrValue half = b.Fma(half_power, q, b.FSub(half_power, b.Like(x, 0.5)));
  const IrValue is_near = b.Cmp(Compare::kFeq, reduced.n, b.Like(x, 0));
  return b.Select(is_near, q, b.FAdd(half, half));
}

LiftedExp EmitLiftedExp(Builder& b, IrValue x) {
  const ExpConstants& c = ConstantsOf(b, x);
  return Lifted(b, Reduce(b, x, c), c);
}

LiftedExp EmitLiftedExp(Builder& b, IrValue x, IrValue y, std::optional<IrValue> y_low) {
  const ExpConstants& c = ConstantsOf(b, x);
  ReducedArgument reduced = ReduceProduct(b, x, y, c);
  if (y_low) reduced.r = b.Fma(x, *y_low, reduced.r);
  return Lifted(b, reduced, c);
}

IrValue EmitSinh(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const IrValue size = b.FAbs(y);
    const IrValue t = EmitExpm1(b, size);
    const IrValue near = b.FMul(b.Like(y, 0.5), b.FAdd(t, b.FDiv(t, b.FAdd(t, b.Like(y, 1)))));
    const IrValue half = EmitExp(b, b.FMul(size, b.Like(y, 0.5)));
    const IrValue far = b.FMul(b.FMul(half, b.Like(y, 0.5)), half);
    return b.CopySign(b.Select(b.Cmp(Compare::kFgt, size, b.Like(y, 30)), far, near), y);
  });
}

IrValue EmitCosh(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const IrValue size = b.FAbs(y);
    const IrValue half = EmitExp(b, b.FMul(size, b.Like(y, 0.5)));
    const IrValue whole = EmitExp(b, size);
    const IrValue near = b.Fma(b.Like(y, 0.5), whole, b.FDiv(b.Like(y, 0.5), whole));
    const IrValue far = b.FMul(b.FMul(half, b.Like(y, 0.5)), half);
    return b.Select(b.Cmp(Compare::kFgt, size, b.Like(y, 30)), far, near);
  });
}

IrValue EmitTanh(Builder& b, IrValue x) {
  if (b.TypeOf(x).element == Element::kF64) {
    const IrValue size = b.FAbs(x);
    const IrValue most = b.Like(x, 20);  // tanh(20) rounds to 1
    const IrValue clamped = b.Select(b.Cmp(Compare::kFgt, size, most), most, size);
    const IrValue t = EmitExpm1(b, b.FAdd(clamped, clamped));
    return b.CopySign(b.FDiv(t, b.FAdd(t, b.Like(x, 2))), x);
  }
  const IrValue most = b.Like(x, 9.05);
  const IrValue least = b.Like(x, -9.05);
  IrValue y = b.Select(b.Cmp(Compare::kFlt, most, x), most, x);
  y = b.Select(b.Cmp(Compare::kFgt, least, y), least, y);
  const IrValue z = b.FMul(y, y);
  return b.FDiv(b.FMul(y, Polynomial(b, z, kTanhP)), Polynomial(b, z, kTanhQ));
}

}  // namespace tunec::jit
