// The error function erf. For f32 it is x times a ratio of polynomials in x^2 if |x| <= 3.92, with
// an error of at most 5.2 ulp (from the rounding of the two polynomials). For f64 it is x times a
// polynomial in x^2 if |x| < 1. For x from 1 on it is 1 - exp(-x^2)*P((x - 2.5)/(x + 2.5)). The f64
// result is within 4e-16 of the exact value.
#include "jit/math/math.h"

namespace tunec::jit {
namespace {

// Coefficients of the numerator and denominator of erf(x)/x in x^2 for f32, |x| <= 3.93.
constexpr double kErfP[] = {1.12837914646,  0.19065841427,     0.0527725272763,
                            0.003773958304, 0.000284635523093, 2.04229659942e-6};
constexpr double kErfQ[] = {
    1.0, 0.502299366171, 0.11420463125, 0.0149860954443, 0.0011637606685, 3.79984812379e-5};
// Coefficients of erf(x)/x in x^2 for f64, |x| <= 1.
constexpr double kErf64[] = {
    1.12837916709551257,     -0.376126389031837524,     0.112837916709551202,
    -0.0268661706451298408,  0.00522397762542329831,    -0.00085483270219348296,
    0.000120553329028887354, -0.0000149256475675193321, 1.64620454414684189e-6,
    -1.63646421581676153e-7, 1.4792401209404813e-8,     -1.21645600572834501e-9,
    8.70904512905310669e-11, -4.23094582429533782e-12};
// Coefficients of erfc(x)*exp(x^2) in (x - 2.5)/(x + 2.5) for f64, 1 <= x <= 6.5.
constexpr double kErfc64[] = {
    0.210806364061143581,     -0.371736733948973353,     0.251713193217449246,
    -0.125033052378829039,    0.0399225390755937389,     -0.00399370116588016676,
    -0.00264236596482774568,  0.000875915450887512669,   0.00022838039462810495,
    -0.000128877184172187448, -0.0000341825004031311211, 0.0000186145634218208724,
    7.55517120274454967e-6,   -2.29835599093395513e-6,   -1.81681310662711558e-6,
    7.55470845055805138e-8,   3.90403849519886689e-7,    8.55277873293551206e-8,
    -6.15092336087350067e-8,  -3.05484589687202005e-8,   4.45790544148130559e-9};

IrValue ErfSingle(Builder& b, IrValue x) {
  const IrValue z = b.FMul(x, x);
  const IrValue near = b.FDiv(b.FMul(x, Polynomial(b, z, kErfP)), Polynomial(b, z, kErfQ));
  // Far from zero the result is exactly 1 or -1, so that 1 + erf(x) is exactly 0 for x < -3.92.
  const IrValue is_far = b.Cmp(Compare::kFlt, b.Like(x, 3.92), b.FAbs(x));
  return b.Select(is_far, b.CopySign(b.Like(x, 1), x), near);
}

IrValue ErfDouble(Builder& b, IrValue x) {
  const IrValue near = b.FMul(x, Polynomial(b, b.FMul(x, x), kErf64));
  const IrValue most = b.Like(x, 6.5);
  IrValue size = b.FAbs(x);
  size = b.Select(b.Cmp(Compare::kFlt, most, size), most, size);
  const IrValue shift = b.Like(x, 2.5);
  const IrValue t = b.FDiv(b.FSub(size, shift), b.FAdd(size, shift));
  const IrValue decay = EmitExp(b, b.FNeg(b.FMul(size, size)));
  const IrValue far = b.Fma(b.FNeg(decay), Polynomial(b, t, kErfc64), b.Like(x, 1));
  const IrValue is_near = b.Cmp(Compare::kFlt, size, b.Like(x, 1));
  return b.Select(is_near, near, b.CopySign(far, x));
}

}  // namespace

IrValue EmitErf(Builder& b, IrValue x) {
  return b.TypeOf(x).element == Element::kF32 ? ErfSingle(b, x) : ErfDouble(b, x);
}

}  // namespace tunec::jit
