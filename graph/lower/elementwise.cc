// Lowering of pointwise operators and batch normalisation to scalar expressions. An overflow of
// exp(x) for a large x does not affect the result of an activation.
#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/lower/lower_node.h"

namespace tunec::lower {
namespace {

using Operands = std::span<const Expr>;

Expr Number(double value, const Expr& like) { return Expr::Constant(value, like.type()); }
Expr Exp(Expr x) { return Unary(ScalarOp::kExp, std::move(x)); }
Expr Less(Expr a, Expr b) { return Expr::Apply(ScalarOp::kLt, {std::move(a), std::move(b)}); }

Expr Chosen(const Expr& x, Expr below_zero, Expr otherwise) {
  return Expr::Select(Less(x, Number(0, x)), std::move(below_zero), std::move(otherwise));
}

// Returns the sigmoid. exp(-|x|) never overflows. If x is negative and exp(x) is denormal, exp(x)
// is itself the result.
Expr SigmoidOf(const Expr& x) {
  const Expr one = Number(1, x);
  const Expr small = Exp(-Unary(ScalarOp::kAbs, x));
  return Chosen(x, small, one) / (one + small);
}

// Returns log(1 + exp(x)).
Expr SoftplusOf(const Expr& x) {
  const Expr small = Exp(-Unary(ScalarOp::kAbs, x));
  return Max(x, Number(0, x)) + Unary(ScalarOp::kLog1p, small);
}

// Returns x if x is positive, else scale * (exp(x / divisor) - 1).
Expr ExponentialTail(const Expr& x, double scale, double divisor) {
  const Expr argument = divisor == 1 ? x : x / Number(divisor, x);
  const Expr tail = Number(scale, x) * Unary(ScalarOp::kExpm1, argument);
  return Expr::Select(Less(Number(0, x), x), x, tail);
}

// Returns whether a bound is applied. A bound of floats must not be infinite; a bound of integers
// must be in the range of the type. So a clip of integers to the range of f32 has no effect.
bool IsBound(double bound, DataType type) {
  if (IsFloat(type)) return !std::isinf(bound);
  const double bits = 8.0 * static_cast<double>(SizeOf(type)) - (IsSigned(type) ? 1 : 0);
  return bound >= (IsSigned(type) ? -std::exp2(bits) : 0) && bound < std::exp2(bits);
}

Expr Clamp(Expr x, double low, double high) {
  if (IsBound(low, x.type())) x = Max(x, Number(low, x));
  if (IsBound(high, x.type())) x = Min(x, Number(high, x));
  return x;
}

Expr Power(const Expr& base, const Expr& exponent) {
  if (exponent.IsConstant(1)) return base;
  if (exponent.IsConstant(2)) return base * base;
  if (exponent.IsConstant(3)) return base * base * base;
  return Expr::Apply(ScalarOp::kPow, {base, exponent});
}

// A node, its operands' elements at one index, and the type of its result.
struct ElementContext {
  const Node& node;
  Operands x;
  DataType output;
  double Float(std::string_view attribute) const { return node.Float(attribute); }
};

Expr First(const ElementContext& p) { return p.x[0]; }

// Returns the operator kOp applied to all operands in order.
template <ScalarOp kOp>
Expr Same(const ElementContext& p) {
  return Expr::Apply(kOp, std::vector<Expr>(p.x.begin(), p.x.end()));
}

// Rounds floats; integers are returned unchanged.
template <ScalarOp kOp>
Expr Rounded(const ElementContext& p) {
  return IsFloat(p.x[0].type()) ? Unary(kOp, p.x[0]) : p.x[0];
}

template <ScalarOp kOp>
Expr Swapped(const ElementContext& p) {
  return Expr::Apply(kOp, {p.x[1], p.x[0]});
}

Expr Mod(const ElementContext& p) {
  const bool fmod = p.node.Int("fmod") != 0;
  return fmod ? Same<ScalarOp::kTruncMod>(p) : Same<ScalarOp::kFloorMod>(p);
}

Expr IsNan(const ElementContext& p) {
  return IsFloat(p.x[0].type()) ? Unary(ScalarOp::kIsNan, p.x[0])
                                : Expr::Constant(0, DataType::kBool);
}

Expr IsInf(const ElementContext& p) {
  const Expr& x = p.x[0];
  if (!IsFloat(x.type())) return Expr::Constant(0, DataType::kBool);
  Expr infinite = Unary(ScalarOp::kIsInf, x);
  const bool positive = p.node.Int("detect_positive") != 0;
  const bool negative = p.node.Int("detect_negative") != 0;
  if (positive && negative) return infinite;
  if (!positive && !negative) return Expr::Constant(0, DataType::kBool);
  const Expr sign = positive ? Less(Number(0, x), x) : Less(x, Number(0, x));
  return Expr::Apply(ScalarOp::kAnd, {infinite, sign});
}

// Casts a value. A result of a 16-bit float type is rounded to that type, then represented as f32.
Expr Cast(const ElementContext& p) {
  return Expr::Cast(Expr::Cast(p.x[0], p.output), ComputeType(p.output));
}

Expr Reciprocal(const ElementContext& p) { return Number(1, p.x[0]) / p.x[0]; }
Expr Pow(const ElementContext& p) { return Power(p.x[0], p.x[1]); }
Expr Prelu(const ElementContext& p) {
  return Expr::Select(Less(p.x[0], Number(0, p.x[0])), p.x[1] * p.x[0], p.x[0]);
}
Expr Where(const ElementContext& p) { return Expr::Select(p.x[0], p.x[1], p.x[2]); }

Expr Relu(const ElementContext& p) { return Max(p.x[0], Number(0, p.x[0])); }
Expr LeakyRelu(const ElementContext& p) {
  const Expr& x = p.x[0];
  return Expr::Select(Less(x, Number(0, x)), Number(p.Float("alpha"), x) * x, x);
}
Expr Sigmoid(const ElementContext& p) { return SigmoidOf(p.x[0]); }
Expr Gelu(const ElementContext& p) {
  const bool tanh = p.node.String("approximate") == "tanh";
  return Unary(tanh ? ScalarOp::kGeluTanh : ScalarOp::kGelu, p.x[0]);
}
Expr Elu(const ElementContext& p) { return ExponentialTail(p.x[0], p.Float("alpha"), 1); }
Expr Selu(const ElementContext& p) { return Number(p.Float("gamma"), p.x[0]) * Elu(p); }
Expr Celu(const ElementContext& p) {
  return ExponentialTail(p.x[0], p.Float("alpha"), p.Float("alpha"));
}
Expr Softplus(const ElementContext& p) { return SoftplusOf(p.x[0]); }
Expr Softsign(const ElementContext& p) {
  return p.x[0] / (Number(1, p.x[0]) + Unary(ScalarOp::kAbs, p.x[0]));
}
Expr HardSigmoid(const ElementContext& p) {
  const Expr& x = p.x[0];
  const Expr line =
      Expr::Apply(ScalarOp::kFma, {Number(p.Float("alpha"), x), x, Number(p.Float("beta"), x)});
  return Clamp(line, 0, 1);
}
Expr HardSwish(const ElementContext& p) {
  const Expr& x = p.x[0];
  // The result is accurate near -3, where x + 3 is exact. From 3 on the result is x, because 6
  // times the rounded sixth is 1.
  return x * (Clamp(x + Number(3, x), 0, 6) * Number(1.0 / 6, x));
}
Expr ThresholdedRelu(const ElementContext& p) {
  const Expr& x = p.x[0];
  return Expr::Select(Less(Number(p.Float("alpha"), x), x), x, Number(0, x));
}
Expr Clip(const ElementContext& p) { return Clamp(p.x[0], p.Float("min"), p.Float("max")); }

struct ElementRow {
  Op op;
  Expr (*element)(const ElementContext& context);
};
constexpr ElementRow kElements[] = {
    {Op::kIdentity, First},
    {Op::kCopy, First},
    {Op::kNeg, Same<ScalarOp::kNeg>},
    {Op::kAbs, Same<ScalarOp::kAbs>},
    {Op::kSign, Same<ScalarOp::kSign>},
    {Op::kNot, Same<ScalarOp::kNot>},
    {Op::kExp, Same<ScalarOp::kExp>},
    {Op::kExpm1, Same<ScalarOp::kExpm1>},
    {Op::kLog, Same<ScalarOp::kLog>},
    {Op::kLog1p, Same<ScalarOp::kLog1p>},
    {Op::kLog2, Same<ScalarOp::kLog2>},
    {Op::kLog10, Same<ScalarOp::kLog10>},
    {Op::kSqrt, Same<ScalarOp::kSqrt>},
    {Op::kRsqrt, Same<ScalarOp::kRsqrt>},
    {Op::kTanh, Same<ScalarOp::kTanh>},
    {Op::kErf, Same<ScalarOp::kErf>},
    {Op::kSin, Same<ScalarOp::kSin>},
    {Op::kCos, Same<ScalarOp::kCos>},
    {Op::kTan, Same<ScalarOp::kTan>},
    {Op::kAsin, Same<ScalarOp::kAsin>},
    {Op::kAcos, Same<ScalarOp::kAcos>},
    {Op::kAtan, Same<ScalarOp::kAtan>},
    {Op::kSinh, Same<ScalarOp::kSinh>},
    {Op::kCosh, Same<ScalarOp::kCosh>},
    {Op::kAsinh, Same<ScalarOp::kAsinh>},
    {Op::kAcosh, Same<ScalarOp::kAcosh>},
    {Op::kAtanh, Same<ScalarOp::kAtanh>},
    {Op::kFloor, Rounded<ScalarOp::kFloor>},
    {Op::kCeil, Rounded<ScalarOp::kCeil>},
    {Op::kRound, Rounded<ScalarOp::kRound>},
    {Op::kAdd, Same<ScalarOp::kAdd>},
    {Op::kSub, Same<ScalarOp::kSub>},
    {Op::kMul, Same<ScalarOp::kMul>},
    {Op::kDiv, Same<ScalarOp::kDiv>},
    {Op::kMin, Same<ScalarOp::kMin>},
    {Op::kMax, Same<ScalarOp::kMax>},
    {Op::kAnd, Same<ScalarOp::kAnd>},
    {Op::kOr, Same<ScalarOp::kOr>},
    {Op::kXor, Same<ScalarOp::kXor>},
    {Op::kShl, Same<ScalarOp::kShl>},
    {Op::kShr, Same<ScalarOp::kShr>},
    {Op::kEq, Same<ScalarOp::kEq>},
    {Op::kNe, Same<ScalarOp::kNe>},
    {Op::kLt, Same<ScalarOp::kLt>},
    {Op::kLe, Same<ScalarOp::kLe>},
    {Op::kGt, Swapped<ScalarOp::kLt>},
    {Op::kGe, Swapped<ScalarOp::kLe>},
    {Op::kMod, Mod},
    {Op::kIsNan, IsNan},
    {Op::kIsInf, IsInf},
    {Op::kCast, Cast},
    {Op::kReciprocal, Reciprocal},
    {Op::kPow, Pow},
    {Op::kPrelu, Prelu},
    {Op::kWhere, Where},
    {Op::kRelu, Relu},
    {Op::kLeakyRelu, LeakyRelu},
    {Op::kSigmoid, Sigmoid},
    {Op::kSilu, Same<ScalarOp::kSilu>},
    {Op::kGelu, Gelu},
    {Op::kElu, Elu},
    {Op::kSelu, Selu},
    {Op::kCelu, Celu},
    {Op::kSoftplus, Softplus},
    {Op::kSoftsign, Softsign},
    {Op::kHardSigmoid, HardSigmoid},
    {Op::kHardSwish, HardSwish},
    {Op::kMish, Same<ScalarOp::kMish>},
    {Op::kThresholdedRelu, ThresholdedRelu},
    {Op::kClip, Clip},
};
static_assert(HasEach(kElements, [](Op op) { return LowererOf(op).name == "Elementwise"; }),
              "a pointwise operator has no expression");

Expr Element(const ElementContext& context) {
  return std::ranges::find(kElements, context.node.op, &ElementRow::op)->element(context);
}

}  // namespace

Result<Lazy> LowerElementwise(LowerContext& context, const Node& node) {
  std::vector<Lazy> operands;
  int cost = OperationsPerElement(node);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    operands.push_back(context.Input(node, i));
    cost += operands.back().cost;
  }
  const DataType type = context.OutputType(node);
  return context.Define(type, context.OutputShape(node), cost,
                        [&node, type, operands](StatementBuilder& builder, const Index& index) {
                          std::vector<Expr> elements;
                          for (const Lazy& operand : operands)
                            elements.push_back(operand.Broadcast(builder, index));
                          return Element({node, elements, type});
                        });
}

Result<Lazy> LowerBatchNorm(LowerContext& context, const Node& node) {
  std::vector<Lazy> operands;
  for (size_t i = 0; i < 5; ++i) operands.push_back(context.Input(node, i));
  const double epsilon = node.Float("epsilon");
  const int cost = operands[0].cost + OperationsPerElement(node);
  return context.Define(
      context.OutputType(node), context.OutputShape(node), cost,
      [operands, epsilon](StatementBuilder& builder, const Index& index) {
        const Expr given = operands[0].At(builder, index);
        std::vector<Expr> channel;  // scale, bias, mean, variance
        for (size_t i = 1; i < 5; ++i) channel.push_back(operands[i].At(builder, {index[1]}));
        const bool wide = std::ranges::any_of(
            channel, [](const Expr& parameter) { return parameter.type() == DataType::kF64; });
        const DataType type = wide ? DataType::kF64 : given.type();
        for (Expr& parameter : channel) parameter = Expr::Cast(parameter, type);
        const Expr x = Expr::Cast(given, type);
        const Expr deviation = Unary(ScalarOp::kSqrt, channel[3] + Number(epsilon, x));
        const Expr result = (x - channel[2]) / deviation * channel[0] + channel[1];
        return Expr::Cast(result, given.type());
      });
}

}  // namespace tunec::lower
