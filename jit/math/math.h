// Elementary functions on scalars or vectors, without library calls. The code is straight-line,
// except for a rarely taken branch that reduces huge arguments of sin, cos and tan. Functions take
// and return f32 or f64, by the type of their operand. tests/jit/math_test.cc compares the results
// with those of C's library. Functions of C have C's results for infinities, NaN and signed zeros.
// The source files state measured bounds of the errors.
#pragma once

#include <optional>

#include "jit/builder/builder.h"

namespace tunec::jit {

// The functions of exp.cc.
IrValue EmitExp(Builder& b, IrValue x);
/// Returns exp(x), or 0 in place of a denormal number.
IrValue EmitFlushedExp(Builder& b, IrValue x);
IrValue EmitExpm1(Builder& b, IrValue x);
/// The value exp(x) as (1 + excess) * power * lowering. None of these three factors is denormal,
/// even if exp(x) is.
struct LiftedExp {
  IrValue excess;
  IrValue power;
  double lowering;
};
/// Returns the exponential of x. x must be at most 20. For f32, x must be at least -115. For f64, x
/// must be at least -1000.
LiftedExp EmitLiftedExp(Builder& b, IrValue x);
/// Returns the exponential of the exact product x * (y + y_low), or x * y if y_low is absent. The
/// product must be within the same bounds.
LiftedExp EmitLiftedExp(Builder& b, IrValue x, IrValue y, std::optional<IrValue> y_low);
IrValue EmitSinh(Builder& b, IrValue x);
IrValue EmitCosh(Builder& b, IrValue x);
IrValue EmitTanh(Builder& b, IrValue x);

// The functions of log.cc.
IrValue EmitLog(Builder& b, IrValue x);
IrValue EmitLog1p(Builder& b, IrValue x);
IrValue EmitLog2(Builder& b, IrValue x);
IrValue EmitLog10(Builder& b, IrValue x);
IrValue EmitAsinh(Builder& b, IrValue x);
IrValue EmitAcosh(Builder& b, IrValue x);
IrValue EmitAtanh(Builder& b, IrValue x);
IrValue EmitPow(Builder& b, IrValue x, IrValue y);

// The function of erf.cc.
IrValue EmitErf(Builder& b, IrValue x);

// The functions of gelu.cc.
IrValue EmitGelu(Builder& b, IrValue x);
IrValue EmitGeluTanh(Builder& b, IrValue x);
IrValue EmitSilu(Builder& b, IrValue x);
IrValue EmitMish(Builder& b, IrValue x);

// The function of angle.cc.
/// A reduced angle: x = quadrant * pi/2 + rest, |rest| at most slightly above pi/4. Only the lowest
/// two bits of the quadrant (i64) are defined. The rest of infinities and NaN is NaN.
struct Angle {
  IrValue rest;
  IrValue quadrant;
};
Angle ReduceByHalfPi(Builder& b, IrValue x);  // f64 only

// The functions of trigonometric.cc.
IrValue EmitSin(Builder& b, IrValue x);
IrValue EmitCos(Builder& b, IrValue x);
IrValue EmitTan(Builder& b, IrValue x);
IrValue EmitAsin(Builder& b, IrValue x);
IrValue EmitAcos(Builder& b, IrValue x);
IrValue EmitAtan(Builder& b, IrValue x);

// The function of modulo.cc.
/// Emits C's fmod(x, y), exact up to |x/y| of about 2^300.
IrValue EmitFmod(Builder& b, IrValue x, IrValue y);

/// Emits c[0] + x*(c[1] + x*(...)) by fused multiply-adds.
IrValue Polynomial(Builder& b, IrValue x, std::span<const double> coefficients);
/// Emits f(x) in f64 and rounds the result to x's type, for functions whose speed matters little.
template <class F>
IrValue InDouble(Builder& b, IrValue x, F f) {
  if (b.TypeOf(x).element == Element::kF64) return f(x);
  return b.FloatTruncate(f(b.FloatExtend(x, Element::kF64)), Element::kF32);
}

}  // namespace tunec::jit
