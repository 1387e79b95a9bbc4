// One scalar expression for each elementwise operator. Activations are written so that no
// intermediate overflows where the result is finite.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "graph/lower/lower_node.h"

namespace tunec::lower {
namespace {

using Operands = std::span<const Expr>;

Expr Number(double value, const Expr& like) { return Expr::Constant(value, like.type()); }
Expr Exp(Expr x) { return Unary(ScalarOp::kExp, std::move(x)); }
Expr Tanh(Expr x) { return Unary(ScalarOp::kTanh, std::move(x)); }
Expr Less(Expr a, Expr b) { return Expr::Apply(ScalarOp::kLt, {std::move(a), std::move(b)}); }

Expr Sigmoid(const Expr& x) { return Number(1, x) / (Number(1, x) + Exp(-x)); }

// log(1 + exp(x)); exp of -|x| never overflows.
Expr Softplus(const Expr& x) {
  const Expr small = Exp(-Unary(ScalarOp::kAbs, x));
  return Max(x, Number(0, x)) + Unary(ScalarOp::kLog, Number(1, x) + small);
}

Expr Gelu(const Expr& x, bool tanh) {
  const Expr half = Number(0.5, x);
  if (!tanh) {
    const Expr scaled = x * Number(1 / std::numbers::sqrt2, x);
    return half * x * (Number(1, x) + Unary(ScalarOp::kErf, scaled));
  }
  const Expr cubic = x + Number(0.044715, x) * (x * x * x);
  const double scale = std::sqrt(2 / std::numbers::pi);
  return half * x * (Number(1, x) + Tanh(Number(scale, x) * cubic));
}

// x where it is positive, else scale * (exp(x / divisor) - 1).
Expr ExponentialTail(const Expr& x, double scale, double divisor) {
  const Expr argument = divisor == 1 ? x : x / Number(divisor, x);
  const Expr tail = Number(scale, x) * (Exp(argument) - Number(1, x));
  return Expr::Select(Less(Number(0, x), x), x, tail);
}

// Whether a bound means something for the type: it is not infinite, and an integer type
// holds it (a clip of integers to the range of f32 is none).
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

Expr Pow(const Expr& base, const Expr& exponent) {
  if (exponent.IsConstant(1)) return base;
  if (exponent.IsConstant(2)) return base * base;
  if (exponent.IsConstant(3)) return base * base * base;
  return Expr::Apply(ScalarOp::kPow, {base, exponent});
}

Expr IsInf(const Node& node, const Expr& x) {
  if (!IsFloat(x.type())) return Expr::Constant(0, DataType::kBool);
  const Expr infinite = Unary(ScalarOp::kIsInf, x);
  const bool positive = node.Int("detect_positive") != 0;
  const bool negative = node.Int("detect_negative") != 0;
  if (positive && negative) return infinite;
  if (!positive && !negative) return Expr::Constant(0, DataType::kBool);
  const Expr sign = positive ? Less(Number(0, x), x) : Less(x, Number(0, x));
  return Expr::Apply(ScalarOp::kAnd, {infinite, sign});
}

Expr Activation(const Node& node, const Expr& x) {
  switch (node.op) {
    case Op::kRelu:
      return Max(x, Number(0, x));
    case Op::kLeakyRelu:
      return Expr::Select(Less(x, Number(0, x)), Number(node.Float("alpha"), x) * x, x);
    case Op::kSigmoid:
      return Sigmoid(x);
    case Op::kSilu:
      return x / (Number(1, x) + Exp(-x));
    case Op::kGelu:
      return Gelu(x, node.String("approximate") == "tanh");
    case Op::kElu:
      return ExponentialTail(x, node.Float("alpha"), 1);
    case Op::kSelu: {
      const double gamma = node.Float("gamma");
      return Number(gamma, x) * ExponentialTail(x, node.Float("alpha"), 1);
    }
    case Op::kCelu:
      return ExponentialTail(x, node.Float("alpha"), node.Float("alpha"));
    case Op::kSoftplus:
      return Softplus(x);
    case Op::kSoftsign:
      return x / (Number(1, x) + Unary(ScalarOp::kAbs, x));
    case Op::kHardSigmoid:
      return Clamp(Number(node.Float("alpha"), x) * x + Number(node.Float("beta"), x), 0, 1);
    case Op::kHardSwish:
      return x * Clamp(x * Number(1.0 / 6, x) + Number(0.5, x), 0, 1);
    case Op::kMish:
      return x * Tanh(Softplus(x));
    case Op::kThresholdedRelu:
      return Expr::Select(Less(Number(node.Float("alpha"), x), x), x, Number(0, x));
    default:
      return Clamp(x, node.Float("min"), node.Float("max"));  // kClip
  }
}

// The operators that are one scalar operator of the same name.
constexpr std::pair<Op, ScalarOp> kSameName[] = {
    {Op::kNeg, ScalarOp::kNeg},     {Op::kAbs, ScalarOp::kAbs},     {Op::kSign, ScalarOp::kSign},
    {Op::kNot, ScalarOp::kNot},     {Op::kExp, ScalarOp::kExp},     {Op::kLog, ScalarOp::kLog},
    {Op::kSqrt, ScalarOp::kSqrt},   {Op::kRsqrt, ScalarOp::kRsqrt}, {Op::kTanh, ScalarOp::kTanh},
    {Op::kErf, ScalarOp::kErf},     {Op::kSin, ScalarOp::kSin},     {Op::kCos, ScalarOp::kCos},
    {Op::kTan, ScalarOp::kTan},     {Op::kAsin, ScalarOp::kAsin},   {Op::kAcos, ScalarOp::kAcos},
    {Op::kAtan, ScalarOp::kAtan},   {Op::kSinh, ScalarOp::kSinh},   {Op::kCosh, ScalarOp::kCosh},
    {Op::kAsinh, ScalarOp::kAsinh}, {Op::kAcosh, ScalarOp::kAcosh}, {Op::kAtanh, ScalarOp::kAtanh},
    {Op::kFloor, ScalarOp::kFloor}, {Op::kCeil, ScalarOp::kCeil},   {Op::kRound, ScalarOp::kRound},
    {Op::kAdd, ScalarOp::kAdd},     {Op::kSub, ScalarOp::kSub},     {Op::kMul, ScalarOp::kMul},
    {Op::kDiv, ScalarOp::kDiv},     {Op::kMin, ScalarOp::kMin},     {Op::kMax, ScalarOp::kMax},
    {Op::kAnd, ScalarOp::kAnd},     {Op::kOr, ScalarOp::kOr},       {Op::kXor, ScalarOp::kXor},
    {Op::kShl, ScalarOp::kShl},     {Op::kShr, ScalarOp::kShr},     {Op::kEq, ScalarOp::kEq},
    {Op::kNe, ScalarOp::kNe},       {Op::kLt, ScalarOp::kLt},       {Op::kLe, ScalarOp::kLe},
};

// The operators that are one scalar operator.
std::optional<ScalarOp> ScalarOf(const Node& node) {
  if (node.op == Op::kMod) {
    return node.Int("fmod") != 0 ? ScalarOp::kTruncMod : ScalarOp::kFloorMod;
  }
  const auto* same = std::ranges::find(kSameName, node.op, &std::pair<Op, ScalarOp>::first);
  return same == std::end(kSameName) ? std::nullopt : std::optional(same->second);
}

// Operators without meaning for integers, or that leave them as they are.
bool IsRounding(Op op) { return op == Op::kFloor || op == Op::kCeil || op == Op::kRound; }

Expr CastTo(const Expr& x, DataType to) {
  // A 16-bit float is carried as f32, yet the cast rounds.
  return Expr::Cast(Expr::Cast(x, to), ComputeType(to));
}

Expr Element(const Node& node, Operands x, DataType output) {
  if (IsRounding(node.op) && !IsFloat(x[0].type())) return x[0];
  if (const std::optional<ScalarOp> op = ScalarOf(node))
    return Expr::Apply(*op, std::vector<Expr>(x.begin(), x.end()));
  switch (node.op) {
    case Op::kIdentity:
    case Op::kCopy:
      return x[0];
    case Op::kReciprocal:
      return Number(1, x[0]) / x[0];
    case Op::kIsNan:
      return IsFloat(x[0].type()) ? Unary(ScalarOp::kIsNan, x[0])
                                  : Expr::Constant(0, DataType::kBool);
    case Op::kIsInf:
      return IsInf(node, x[0]);
    case Op::kCast:
      return CastTo(x[0], output);
    case Op::kPow:
      return Pow(x[0], x[1]);
    case Op::kGt:
      return Less(x[1], x[0]);
    case Op::kGe:
      return Expr::Apply(ScalarOp::kLe, {x[1], x[0]});
    case Op::kPrelu:
      return Expr::Select(Less(x[0], Number(0, x[0])), x[1] * x[0], x[0]);
    case Op::kWhere:
      return Expr::Select(x[0], x[1], x[2]);
    default:
      return Activation(node, x[0]);
  }
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
                          return Element(node, elements, type);
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
        const Expr x = operands[0].At(builder, index);
        std::vector<Expr> channel;  // scale, bias, mean, variance
        for (size_t i = 1; i < 5; ++i)
          channel.push_back(Expr::Cast(operands[i].At(builder, {index[1]}), x.type()));
        const Expr deviation = Unary(ScalarOp::kSqrt, channel[3] + Number(epsilon, x));
        return (x - channel[2]) / deviation * channel[0] + channel[1];
      });
}

}  // namespace tunec::lower
