// Trigonometric functions and their inverses, computed in f64. So f32 results are within 1 ulp.
#include "jit/math/math.h"

namespace tunec::jit {
namespace {

constexpr double kHalfPi = 1.57079632679489661923;
constexpr double kHalfPi2 = 6.1232339957367660359e-17;  // rest of pi/2

// Coefficients of (sin(r) - r)/r^3 and (cos(r) - 1 + r^2/2)/r^4 in r^2, |r| <= pi/4.
constexpr double kSin[] = {-0.166666666666666646,    0.00833333333333094818,
                           -0.000198412698367581155, 2.75573161023144711e-6,
                           -2.50511317954077646e-8,  1.59181257217249682e-10};
constexpr double kCos[] = {0.0416666666666666654,    -0.0013888888888887397,
                           0.0000248015872987654009, -2.75573172715809239e-7,
                           2.08761462373766788e-9,   -1.13826301901955156e-11};
// Coefficients of (asin(x) - x)/x^3 in x^2, |x| <= 1/2; (atan(x) - x)/x^3 in x^2, |x| <= tan(pi/8).
constexpr double kAsin[] = {0.166666666666666486,  0.0750000000002076436,  0.0446428571034236434,
                            0.0303819473670984811, 0.0223720476317445104,  0.0173552599557863217,
                            0.0139296529023266332, 0.0118754943826369232,  0.00780294947735331714,
                            0.0160355143491488231, -0.0107490503396978076, 0.0281692180608814129};
constexpr double kAtan[] = {-0.333333333333333332,  0.199999999999998045,   -0.142857142856598252,
                            0.11111111105155212,    -0.090909087534892068,  0.076922963746947236,
                            -0.0666642487967791894, 0.0587892892815317469,  -0.0523045375743962152,
                            0.0455159087959994021,  -0.0345705017749512097, 0.0162856901326463355};

struct SinCos {
  IrValue sin;
  IrValue cos;
  IrValue quadrant;  // i64, x = quadrant*pi/2 + r
};

SinCos Reduced(Builder& b, IrValue x) {
  const auto [r, quadrant] = ReduceByHalfPi(b, x);
  const IrValue z = b.FMul(r, r);
  const IrValue sin = b.Fma(b.FMul(z, r), Polynomial(b, z, kSin), r);
  const IrValue near_one = b.Fma(z, b.Like(x, -0.5), b.Like(x, 1));
  const IrValue cos = b.Fma(b.FMul(z, z), Polynomial(b, z, kCos), near_one);
  return {sin, cos, quadrant};
}

IrValue Bit(Builder& b, IrValue number, int64_t bit) {
  return b.Cmp(Compare::kNe, b.And(number, b.IntLike(number, bit)), b.IntLike(number, 0));
}

/// Emits asin(x) from x and its square. |x| must be at most 1/2.
IrValue SmallAsin(Builder& b, IrValue x, IrValue square) {
  return b.Fma(b.FMul(x, square), Polynomial(b, square, kAsin), x);
}

struct AsinParts {
  IrValue is_small;  // |x| <= 1/2
  IrValue value;     // asin(|x|) if small, else asin(sqrt((1 - |x|)/2))
};

AsinParts ReducedAsin(Builder& b, IrValue size) {
  const IrValue is_small = b.Cmp(Compare::kFle, size, b.Like(size, 0.5));
  const IrValue half = b.FMul(b.FSub(b.Like(size, 1), size), b.Like(size, 0.5));
  const IrValue square = b.Select(is_small, b.FMul(size, size), half);
  const IrValue argument = b.Select(is_small, size, b.Sqrt(half));
  return {is_small, SmallAsin(b, argument, square)};
}

}  // namespace

IrValue EmitSin(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const SinCos s = Reduced(b, y);
    const IrValue value = b.Select(Bit(b, s.quadrant, 1), s.cos, s.sin);
    const IrValue result = b.Select(Bit(b, s.quadrant, 2), b.FNeg(value), value);
    return b.Select(b.Cmp(Compare::kFeq, y, b.Like(y, 0)), y, result);  // -0 stays
  });
}

IrValue EmitCos(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const SinCos s = Reduced(b, y);
    const IrValue value = b.Select(Bit(b, s.quadrant, 1), s.sin, s.cos);
    const IrValue next = b.Add(s.quadrant, b.IntLike(s.quadrant, 1));
    return b.Select(Bit(b, next, 2), b.FNeg(value), value);
  });
}

IrValue EmitTan(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const SinCos s = Reduced(b, y);
    const IrValue odd = Bit(b, s.quadrant, 1);
    const IrValue result = b.FDiv(b.Select(odd, b.FNeg(s.cos), s.sin), b.Select(odd, s.sin, s.cos));
    return b.Select(b.Cmp(Compare::kFeq, y, b.Like(y, 0)), y, result);
  });
}

IrValue EmitAsin(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const AsinParts parts = ReducedAsin(b, b.FAbs(y));
    const IrValue large = b.Fma(parts.value, b.Like(y, -2), b.Like(y, kHalfPi));
    return b.CopySign(b.Select(parts.is_small, parts.value, large), y);
  });
}

IrValue EmitAcos(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const AsinParts parts = ReducedAsin(b, b.FAbs(y));
    const IrValue negative = b.Cmp(Compare::kFlt, y, b.Like(y, 0));
    const IrValue signed_value = b.CopySign(parts.value, y);
    const IrValue small = b.FSub(b.Like(y, kHalfPi), b.FSub(signed_value, b.Like(y, kHalfPi2)));
    const IrValue twice = b.FAdd(parts.value, parts.value);
    const IrValue large = b.Select(negative, b.FSub(b.Like(y, 2 * kHalfPi), twice), twice);
    return b.Select(parts.is_small, small, large);
  });
}

IrValue EmitAtan(Builder& b, IrValue x) {
  return InDouble(b, x, [&](IrValue y) {
    const IrValue size = b.FAbs(y);
    const IrValue one = b.Like(y, 1);
    const IrValue inverts = b.Cmp(Compare::kFgt, size, one);
    const IrValue below = b.Select(inverts, b.FDiv(one, size), size);
    const IrValue turns = b.Cmp(Compare::kFgt, below, b.Like(y, 0.41421356237309503));
    const IrValue turned = b.FDiv(b.FSub(below, one), b.FAdd(below, one));
    const IrValue t = b.Select(turns, turned, below);
    const IrValue square = b.FMul(t, t);
    IrValue value = b.Fma(b.FMul(t, square), Polynomial(b, square, kAtan), t);
    value = b.Select(turns, b.FAdd(value, b.Like(y, kHalfPi / 2)), value);
    value = b.Select(inverts, b.FSub(b.Like(y, kHalfPi), value), value);
    return b.CopySign(value, y);
  });
}

}  // namespace tunec::jit
