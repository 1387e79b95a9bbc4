// x times the normal distribution, its approximation by tanh, SiLU and Mish. All keep their
// relative error where the result is tiny: nothing is subtracted from 1, and an argument of the
// exponential that was rounded is kept in two parts. Largest errors measured, of f32 and f64:
// gelu 3.3 and 3.8 ulp, gelu_tanh and silu 2.3 ulp, mish 3.2 ulp.
#include "jit/math/math.h"

namespace tunec::jit {
namespace {

// With q = t/(1 + c*t), t*Phi(-t)*exp(t^2/2) is q*P(1/2 - c*q).
struct NormalTail {
  double most;  // from here on t*Phi(-t) rounds to 0
  double c;
  std::span<const double> polynomial;
};
constexpr double kTail32[] = {0.271114707646,   0.346452665114,   0.241320243054,  0.0109377516769,
                              -0.104435483003,  -0.0114708610066, 0.0662984080842, -0.0101474982552,
                              -0.0410313705804, 0.0261158927413};
constexpr double kTail64[] = {
    0.1888212826039378733,    0.3039483209859460538,     0.387137400742214541,
    0.3730437159193144936,    0.2415862995637462428,     0.0603215117338143326,
    -0.05567507787829752241,  -0.05218619064283843812,   0.008534035994217327141,
    0.02958015170169075385,   -0.0004885141708219988758, -0.01799407925913777304,
    0.0007338663163106335935, 0.01212451496553697877,    -0.002579237112142161236,
    -0.008368570672710463762, 0.004453245413391210212,   0.005077890414099644569,
    -0.005597326092327403506, -0.001740740727578339291,  0.005143163269639191853,
    -0.00100572962245749782,  -0.002644612961143958837,  0.001523039823024007004};
constexpr NormalTail kSingleTail{14.5, 0.3799999952316284, kTail32};
constexpr NormalTail kDoubleTail{38.8, 0.25, kTail64};

// x/(1 + exp(-x*(a + b*x^2))), a = 2*sqrt(2/pi), b = 0.044715*a, both in two parts. a + b*x^2 minus
// the first part of a is exact: that one ends before the other's last bits.
struct TanhForm {
  double most;  // from here on -x gives 0
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

// Returns where x * exp(x) rounds to 0.
double LeastForProduct(Builder& b, IrValue x) {
  return b.TypeOf(x).element == Element::kF32 ? -110.0 : -760.0;
}

// Returns y, but NaN for minus infinity. The functions are defined as products, and one factor is 0
// there.
IrValue WithProductOfInfinity(Builder& b, IrValue x, IrValue y) {
  const IrValue zero = b.Like(x, 0);
  const IrValue below = b.Select(b.Cmp(Compare::kFlt, zero, x), zero, x);
  return b.Fma(below, zero, y);
}

// Returns size * exp(...), rounded once where it is denormal.
IrValue Scaled(Builder& b, IrValue size, const LiftedExp& exp) {
  return b.FMul(b.FMul(b.Fma(size, exp.excess, size), exp.power), b.Like(size, exp.lowering));
}

// x / (1 + exp(-|argument|)) for positive x, and that times exp(-|argument|) for negative ones. t
// is |x|, or less where the result is 0.
IrValue Gated(Builder& b, IrValue x, IrValue t, const LiftedExp& exp) {
  const IrValue negative = b.Cmp(Compare::kFlt, x, b.Like(x, 0));
  const IrValue tail = WithProductOfInfinity(b, x, b.FNeg(Scaled(b, t, exp)));
  const IrValue power = b.Fma(exp.power, exp.excess, exp.power);
  const IrValue sum = b.Fma(power, b.Like(x, exp.lowering), b.Like(x, 1));
  return b.FDiv(b.Select(negative, tail, x), sum);
}

}  // namespace

IrValue EmitGelu(Builder& b, IrValue x) {
  const NormalTail& c = b.TypeOf(x).element == Element::kF32 ? kSingleTail : kDoubleTail;
  const IrValue t = AtMost(b, b.FAbs(x), c.most);
  const IrValue square = b.FMul(t, t);
  const IrValue lost = b.Fma(t, t, b.FNeg(square));
  const IrValue half = b.Like(x, -0.5);
  const LiftedExp exp = EmitLiftedExp(b, b.FMul(square, half), b.FMul(lost, half));
  const IrValue q = b.FDiv(t, b.Fma(t, b.Like(x, c.c), b.Like(x, 1)));
  const IrValue u = b.Fma(q, b.Like(x, -c.c), b.Like(x, 0.5));
  const IrValue tail = Scaled(b, b.FMul(q, Polynomial(b, u, c.polynomial)), exp);
  const IrValue negative = b.Cmp(Compare::kFlt, x, b.Like(x, 0));
  const IrValue below = WithProductOfInfinity(b, x, b.FNeg(tail));
  return b.Select(negative, below, b.FSub(x, tail));
}

IrValue EmitGeluTanh(Builder& b, IrValue x) {
  const TanhForm& c = b.TypeOf(x).element == Element::kF32 ? kSingleForm : kDoubleForm;
  const auto number = [&](double value) { return b.Like(x, value); };
  const IrValue t = AtMost(b, b.FAbs(x), c.most);
  const IrValue square = b.FMul(t, t);
  const IrValue lost = b.Fma(t, t, b.FNeg(square));
  const IrValue slope = b.Fma(square, number(c.b), number(c.a));
  IrValue low = b.Fma(square, number(c.b), b.FSub(number(c.a), slope));
  low = b.Fma(lost, number(c.b), low);
  low = b.FAdd(b.Fma(square, number(c.b_low), low), number(c.a_low));
  const IrValue argument = b.FMul(t, slope);
  low = b.Fma(t, low, b.Fma(t, slope, b.FNeg(argument)));
  return Gated(b, x, t, EmitLiftedExp(b, b.FNeg(argument), b.FNeg(low)));
}

IrValue EmitSilu(Builder& b, IrValue x) {
  const IrValue t = AtMost(b, b.FAbs(x), -LeastForProduct(b, x));
  return Gated(b, x, t, EmitLiftedExp(b, b.FNeg(t), std::nullopt));
}

// With e = exp(x), tanh of log(1 + e) is e * (e + 2) / (e * (e + 2) + 2). From 20 on x is the
// result.
IrValue EmitMish(Builder& b, IrValue x) {
  constexpr double kMost = 20;
  const IrValue least = b.Like(x, LeastForProduct(b, x));
  const IrValue two = b.Like(x, 2);
  IrValue t = AtMost(b, x, kMost);
  t = b.Select(b.Cmp(Compare::kFgt, least, t), least, t);  // NaN stays
  const LiftedExp exp = EmitLiftedExp(b, t, std::nullopt);
  const IrValue power = b.FMul(b.Fma(exp.power, exp.excess, exp.power), b.Like(x, exp.lowering));
  const IrValue sum = b.FAdd(power, two);
  const IrValue ratio = b.FDiv(sum, b.Fma(power, sum, two));
  const IrValue product = WithProductOfInfinity(b, x, Scaled(b, b.FMul(t, ratio), exp));
  return b.Select(b.Cmp(Compare::kFgt, x, b.Like(x, kMost)), x, product);
}

}  // namespace tunec::jit
