// Gelu (x times the cumulative normal distribution), its approximation by tanh, SiLU and Mish. The
// relative error stays small where the result is tiny: nothing is subtracted from 1, and exponents
// that are products are not rounded. The largest measured errors of f32 and f64 are 4.7 and 4.5 ulp
// for gelu, 2.3 and 2.2 for gelu_tanh, 2.2 and 2.5 for silu, 3.1 and 3.1 for mish.
#include "jit/math/math.h"

namespace tunec::jit {
namespace {

// Coefficients of t*Phi(-t)*exp(t^2/2). For f32 it is t times a ratio of polynomials in t with
// positive terms only. For f64 it is q*P(1/2 - c*q) with q = t/(1 + c*t).
constexpr double kTailP32[] = {0.500000002892, 0.438256972884, 0.183201501338, 0.0406202926138,
                               0.00411394745989};
constexpr double kTailQ32[] = {
    1.0, 1.67439891849, 1.202375338, 0.469380494585, 0.101826411502, 0.0103120175764};
constexpr double kTailC64 = 0.25;
constexpr double kTail64[] = {
    0.1888212826039378733,    0.3039483209859460538,     0.387137400742214541,
    0.3730437159193144936,    0.2415862995637462428,     0.0603215117338143326,
    -0.05567507787829752241,  -0.05218619064283843812,   0.008534035994217327141,
    0.02958015170169075385,   -0.0004885141708219988758, -0.01799407925913777304,
    0.0007338663163106335935, 0.01212451496553697877,    -0.002579237112142161236,
    -0.008368570672710463762, 0.004453245413391210212,   0.005077890414099644569,
    -0.005597326092327403506, -0.001740740727578339291,  0.005143163269639191853,
    -0.00100572962245749782,  -0.002644612961143958837,  0.001523039823024007004};

// Constants of x/(1 + exp(-x*(a + b*x^2))), a = 2*sqrt(2/pi), b = 0.044715*a, each in two parts.
// The difference of a + b*x^2 and the first part of a is exact, because that part has fewer bits
// than the sum.
struct TanhForm {
  double most;  // for x <= -most the result rounds to 0
  double a, a_low, b, b_low;
};
constexpr TanhForm kSingleForm{11.0, 1.5957698822021484375, -7.6059641772574021576e-7,
                               0.07135481387376785278, 2.3988323959931356273e-9};
constexpr TanhForm kDoubleForm{21.8, 1.595769121605741247549, -1.0535789519567580683e-14,
                               0.07135481627260024939, -6.1751499181553154534e-19};

IrValue AtMost(Builder& b, IrValue size, double most) {  // NaN stays
  const IrValue bound = b.Like(size, most);
  return b.Select(b.Cmp(Compare::kFlt, bound, size), bound, size);
}

// Returns a number at and below which x * exp(x) rounds to 0.
double LeastForProduct(Builder& b, IrValue x) {
  return b.TypeOf(x).element == Element::kF32 ? -110.0 : -760.0;
}

// Returns max(x, 0) - part * lowering, rounded once. Minus infinity gives NaN: the functions are
// defined as products, one factor of which is 0 there.
IrValue WithoutPart(Builder& b, IrValue x, IrValue part, double lowering) {
  const IrValue zero = b.Like(x, 0);
  const IrValue above = b.Select(b.Cmp(Compare::kFlt, x, zero), zero, x);
  const IrValue below = b.Select(b.Cmp(Compare::kFlt, zero, x), zero, x);
  return b.Fma(part, b.Like(x, -lowering), b.Fma(below, zero, above));
}

// Returns size * exp(...) / exp.lowering. The result is not denormal.
IrValue Lift(Builder& b, IrValue size, const LiftedExp& exp) {
  const IrValue product = b.FMul(size, exp.power);
  return b.Fma(product, exp.excess, product);
}

// Returns x / (1 + e) for positive x, and x * e / (1 + e) for negative x, with e = exp(...).
// `t` is |x|, or a smaller number for which t * e rounds to 0.
IrValue Gated(Builder& b, IrValue x, IrValue t, const LiftedExp& exp) {
  const IrValue power = b.FMul(exp.power, b.Like(x, exp.lowering));
  const IrValue sum = b.Fma(power, exp.excess, b.FAdd(power, b.Like(x, 1)));
  return WithoutPart(b, x, b.FDiv(Lift(b, t, exp), sum), exp.lowering);
}

// Returns a polynomial of degree 4 or 5 in t by a short chain of instructions.
IrValue ShortPolynomial(Builder& b, IrValue t, IrValue square, std::span<const double> c) {
  const auto linear = [&](size_t i) { return b.Fma(t, b.Like(t, c[i + 1]), b.Like(t, c[i])); };
  const IrValue last = c.size() == 5 ? b.Like(t, c[4]) : linear(4);
  return b.Fma(square, b.Fma(square, last, linear(2)), linear(0));
}

// Returns t*Phi(-t)*exp(t^2/2)*factor for t >= 0.
IrValue NormalTail(Builder& b, IrValue t, IrValue factor) {
  if (b.TypeOf(t).element == Element::kF32) {
    const IrValue square = b.FMul(t, t);
    const IrValue top = b.FMul(b.FMul(t, factor), ShortPolynomial(b, t, square, kTailP32));
    return b.FDiv(top, ShortPolynomial(b, t, square, kTailQ32));
  }
  const IrValue q = b.FDiv(t, b.Fma(t, b.Like(t, kTailC64), b.Like(t, 1)));
  const IrValue u = b.Fma(q, b.Like(t, -kTailC64), b.Like(t, 0.5));
  return b.FMul(b.FMul(q, factor), Polynomial(b, u, kTail64));
}

// Returns exp(-t*(a + b*t^2)).
LiftedExp TanhDecay(Builder& b, IrValue t, const TanhForm& form) {
  const auto number = [&](double value) { return b.Like(t, value); };
  const IrValue square = b.FMul(t, t);
  const IrValue slope = b.Fma(square, number(-form.b), number(-form.a));
  const IrValue lost = b.Fma(t, t, b.FNeg(square));
  const IrValue small = b.Fma(square, number(-form.b_low), number(-form.a_low));
  const IrValue rounded = b.Fma(square, number(-form.b), b.FSub(number(-form.a), slope));
  const IrValue low = b.FAdd(b.Fma(lost, number(-form.b), small), rounded);
  return EmitLiftedExp(b, t, slope, low);
}

}  // namespace

IrValue EmitGelu(Builder& b, IrValue x) {
  // A number from which on |x|*Phi(-|x|) rounds to 0.
  const double most = b.TypeOf(x).element == Element::kF32 ? 14.5 : 38.8;
  const IrValue t = AtMost(b, b.FAbs(x), most);
  const LiftedExp exp = EmitLiftedExp(b, t, b.FMul(t, b.Like(x, -0.5)), std::nullopt);
  const IrValue tail = NormalTail(b, t, exp.power);
  return WithoutPart(b, x, b.Fma(tail, exp.excess, tail), exp.lowering);
}

IrValue EmitGeluTanh(Builder& b, IrValue x) {
  const TanhForm& form = b.TypeOf(x).element == Element::kF32 ? kSingleForm : kDoubleForm;
  const IrValue t = AtMost(b, b.FAbs(x), form.most);
  return Gated(b, x, t, TanhDecay(b, t, form));
}

IrValue EmitSilu(Builder& b, IrValue x) {
  const IrValue t = AtMost(b, b.FAbs(x), -LeastForProduct(b, x));
  return Gated(b, x, t, EmitLiftedExp(b, b.FNeg(t)));
}

// Emits x * tanh(log(1 + e)) with e = exp(x). The tanh is e * (e + 2) / (e * (e + 2) + 2). Above 20
// the result is x.
IrValue EmitMish(Builder& b, IrValue x) {
  constexpr double kMost = 20;
  const IrValue least = b.Like(x, LeastForProduct(b, x));
  const IrValue two = b.Like(x, 2);
  IrValue t = AtMost(b, x, kMost);
  t = b.Select(b.Cmp(Compare::kFgt, least, t), least, t);  // NaN stays
  const LiftedExp exp = EmitLiftedExp(b, t);
  const IrValue power = b.FMul(Lift(b, b.Like(x, 1), exp), b.Like(x, exp.lowering));
  const IrValue sum = b.FAdd(power, two);
  const IrValue ratio = b.FDiv(sum, b.Fma(power, sum, two));
  const IrValue scaled = b.FMul(Lift(b, b.FMul(t, ratio), exp), b.Like(x, exp.lowering));
  const IrValue product = b.Fma(x, b.Like(x, 0), scaled);  // minus infinity gives NaN
  return b.Select(b.Cmp(Compare::kFgt, x, b.Like(x, kMost)), x, product);
}

}  // namespace tunec::jit
