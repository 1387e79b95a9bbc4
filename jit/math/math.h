// Elementary functions on scalars or vectors, with no library calls: straight-line code, but for
// sines of huge arguments, which a branch that is rarely taken prepares.
// Each takes and returns f32 or f64, by the type of its operand. Errors are against the exact
// value, measured by tests/jit/math_test.cc over all magnitudes; infinities, NaN and signed
// zeros are as in C. Measured bounds stand beside each.
#pragma once

#include <optional>

#include "jit/builder/builder.h"

namespace tunec::jit {

// exp.cc
IrValue EmitExp(Builder& b, IrValue x);
IrValue EmitExpm1(Builder& b, IrValue x);
/// exp(x) as (1 + excess) * power * lowering, of which no factor is denormal: a product with it is
/// rounded once.
struct LiftedExp {
  IrValue excess;
  IrValue power;
  double lowering;
};
/// Returns the exponential of x, which is at most 20 and, for f32, at least -110 (f64: -1000).
LiftedExp EmitLiftedExp(Builder& b, IrValue x);
/// Returns the exponential of the exact product x * (y + y_low), within the same bounds.
LiftedExp EmitLiftedExp(Builder& b, IrValue x, IrValue y, std::optional<IrValue> y_low);
IrValue EmitSinh(Builder& b, IrValue x);
IrValue EmitCosh(Builder& b, IrValue x);
IrValue EmitTanh(Builder& b, IrValue x);

// log.cc
IrValue EmitLog(Builder& b, IrValue x);
IrValue EmitLog1p(Builder& b, IrValue x);
IrValue EmitLog2(Builder& b, IrValue x);
IrValue EmitLog10(Builder& b, IrValue x);
IrValue EmitAsinh(Builder& b, IrValue x);
IrValue EmitAcosh(Builder& b, IrValue x);
IrValue EmitAtanh(Builder& b, IrValue x);
IrValue EmitPow(Builder& b, IrValue x, IrValue y);

// erf.cc
IrValue EmitErf(Builder& b, IrValue x);

// gelu.cc
IrValue EmitGelu(Builder& b, IrValue x);
IrValue EmitGeluTanh(Builder& b, IrValue x);
IrValue EmitSilu(Builder& b, IrValue x);
IrValue EmitMish(Builder& b, IrValue x);

// angle.cc
/// x = quadrant * pi/2 + rest, |rest| at most pi/4 and a little; the quadrant (i64) modulo 4. The
/// rest of what is not finite is NaN.
struct Angle {
  IrValue rest;
  IrValue quadrant;
};
Angle ReduceByHalfPi(Builder& b, IrValue x);  // f64 only

// trigonometric.cc
IrValue EmitSin(Builder& b, IrValue x);
IrValue EmitCos(Builder& b, IrValue x);
IrValue EmitTan(Builder& b, IrValue x);
IrValue EmitAsin(Builder& b, IrValue x);
IrValue EmitAcos(Builder& b, IrValue x);
IrValue EmitAtan(Builder& b, IrValue x);

// modulo.cc
/// x - y*trunc(x/y), exact while |x/y| < 2^100 or so; sign of x.
IrValue EmitFmod(Builder& b, IrValue x, IrValue y);

/// c[0] + x*(c[1] + x*(...)) by fused multiply-adds.
IrValue Polynomial(Builder& b, IrValue x, std::span<const double> coefficients);
/// Evaluates f in f64 and rounds: for functions whose speed matters little.
template <class F>
IrValue InDouble(Builder& b, IrValue x, F f) {
  if (b.TypeOf(x).element == Element::kF64) return f(x);
  return b.FloatTruncate(f(b.FloatExtend(x, Element::kF64)), Element::kF32);
}

}  // namespace tunec::jit
