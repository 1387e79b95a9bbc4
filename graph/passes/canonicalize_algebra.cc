// Rules on elementwise operators.
#include <cmath>

#include "graph/passes/canonicalize.h"
#include "graph/passes/copy_node.h"

namespace tunec {
namespace {

constexpr std::nullopt_t kUnchanged = std::nullopt;

// x, when it can stand for the node's output without broadcasting.
RewriteResult Replace(const RewriteSite& site, ValueId x) {
  if (!site.HasOutputType(x)) return kUnchanged;
  return x;
}

bool IsZero(std::optional<double> value, bool negative) {
  return value && *value == 0 && std::signbit(*value) == negative;
}

Result<ValueId> AddUniform(const RewriteSite& site, double value) {
  Array array(site.output_type().type, site.output_type().Shape());
  for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, value);
  return AddDerivedConstant(site.builder, site.node.name + "_constant", std::move(array));
}

RewriteResult RemoveIdentity(const RewriteSite& site) {
  if (site.node.op != Op::kIdentity) return kUnchanged;
  return Replace(site, site.inputs[0]);
}

// x + 0 for integers; x + -0.0; x + 0.0 turns -0.0 into 0.0.
RewriteResult AddZero(const RewriteSite& site) {
  if (site.node.op != Op::kAdd) return kUnchanged;
  for (const size_t i : {0, 1}) {
    const std::optional<double> value = site.Uniform(1 - i);
    const bool any_zero = !site.IsFloatType() || site.rules == FloatRules::kFast;
    if (IsZero(value, true) || (any_zero && IsZero(value, false)))
      return Replace(site, site.inputs[i]);
  }
  return kUnchanged;
}

RewriteResult SubtractZero(const RewriteSite& site) {
  if (site.node.op != Op::kSub) return kUnchanged;
  const std::optional<double> value = site.Uniform(1);
  const bool fast = site.rules == FloatRules::kFast;
  if (IsZero(value, false) || (fast && IsZero(value, true))) return Replace(site, site.inputs[0]);
  return kUnchanged;
}

RewriteResult MultiplyByOne(const RewriteSite& site) {
  const Op op = site.node.op;
  if (op != Op::kMul && op != Op::kDiv && op != Op::kPow) return kUnchanged;
  if (site.Uniform(1) == 1.0) return Replace(site, site.inputs[0]);
  if (op == Op::kMul && site.Uniform(0) == 1.0) return Replace(site, site.inputs[1]);
  return kUnchanged;
}

// Wrong for NaN and infinities, and for the sign of zero.
RewriteResult MultiplyByZero(const RewriteSite& site) {
  if (site.node.op != Op::kMul || site.MakesOutput()) return kUnchanged;
  if (site.IsFloatType() && site.rules != FloatRules::kFast) return kUnchanged;
  if (site.Uniform(0) != 0.0 && site.Uniform(1) != 0.0) return kUnchanged;
  if (!site.output_type().IsFixed()) return kUnchanged;
  return AddUniform(site, 0);
}

// Division by a power of two is multiplication by its reciprocal, exactly.
RewriteResult DivideByPowerOfTwo(const RewriteSite& site) {
  if (site.node.op != Op::kDiv || !site.IsFloatType()) return kUnchanged;
  const std::optional<double> divisor = site.Uniform(1);
  int exponent = 0;
  if (!divisor || !std::isfinite(*divisor) || std::abs(std::frexp(*divisor, &exponent)) != 0.5)
    return kUnchanged;
  // Within the normal numbers of every type, so that the reciprocal is exact.
  if (std::abs(exponent) > 12) return kUnchanged;
  const ValueType type = site.graph().value(site.inputs[1]).type;
  Array reciprocal(type.type, type.Shape());
  for (int64_t i = 0; i < reciprocal.size(); ++i) reciprocal.SetDouble(i, 1 / *divisor);
  const ValueId factor =
      AddDerivedConstant(site.builder, site.node.name + "_factor", std::move(reciprocal));
  return site.builder.Add(Op::kMul, {site.inputs[0], factor}, {}, site.node.name, site.node.where);
}

RewriteResult Square(const RewriteSite& site) {
  if (site.node.op != Op::kPow || site.Uniform(1) != 2.0) return kUnchanged;
  if (!site.HasOutputType(site.inputs[0])) return kUnchanged;
  return site.builder.Add(Op::kMul, {site.inputs[0], site.inputs[0]}, {}, site.node.name,
                          site.node.where);
}

// -(-x), not(not(x)).
RewriteResult CancelInvolution(const RewriteSite& site) {
  const Op op = site.node.op;
  if (op != Op::kNeg && op != Op::kNot) return kUnchanged;
  const Node* inner = site.Producer(0, op);
  if (inner == nullptr) return kUnchanged;
  return inner->inputs[0];
}

// relu(relu(x)) and the like.
RewriteResult DropRepeated(const RewriteSite& site) {
  switch (site.node.op) {
    case Op::kRelu:
    case Op::kAbs:
    case Op::kSign:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
      break;
    default:
      return kUnchanged;
  }
  if (site.Producer(0, site.node.op) == nullptr) return kUnchanged;
  return site.inputs[0];
}

bool HoldsEveryValueOf(DataType wide, DataType narrow) {
  if (wide == narrow) return true;
  if (IsFloat(wide) && IsFloat(narrow))
    return wide == DataType::kF64 || (wide == DataType::kF32 && narrow != DataType::kF64);
  if (IsInteger(wide) && IsInteger(narrow) && SizeOf(wide) > SizeOf(narrow))
    return IsSigned(wide) || !IsSigned(narrow);
  return false;
}

// To the same type; and back from a wider one.
RewriteResult SimplifyCast(const RewriteSite& site) {
  if (site.node.op != Op::kCast) return kUnchanged;
  if (site.HasOutputType(site.inputs[0])) return site.inputs[0];
  const Node* inner = site.Producer(0, Op::kCast);
  if (inner == nullptr || !site.HasOutputType(inner->inputs[0])) return kUnchanged;
  const DataType middle = site.graph().value(site.inputs[0]).type.type;
  if (!HoldsEveryValueOf(middle, site.output_type().type)) return kUnchanged;
  return inner->inputs[0];
}

// clip(x, 0, inf) and max(x, 0) are relu(x).
RewriteResult NormaliseRelu(const RewriteSite& site) {
  const Node& node = site.node;
  ValueId x;
  if (node.op == Op::kClip) {
    const double low = node.Float("min");
    const double high = node.Float("max");
    if (high != HUGE_VAL) return kUnchanged;
    if (low == -HUGE_VAL) return site.inputs[0];
    if (low == 0 && !std::signbit(low)) x = site.inputs[0];
  } else if (node.op == Op::kMax) {
    for (const size_t i : {0, 1})
      if (IsZero(site.Uniform(1 - i), false) && site.HasOutputType(site.inputs[i]))
        x = site.inputs[i];
  }
  if (!x.valid()) return kUnchanged;
  return site.builder.Add(Op::kRelu, {x}, {}, node.name, node.where);
}

// (x + c1) + c2 = x + (c1 + c2), and the same for products: exact for integers, otherwise a
// reassociation. The sum of the constants is folded by fold_constants.
RewriteResult GatherConstants(const RewriteSite& site) {
  const Op op = site.node.op;
  if (op != Op::kAdd && op != Op::kMul) return kUnchanged;
  if (site.IsFloatType() && site.rules != FloatRules::kFast) return kUnchanged;
  for (const size_t i : {0, 1}) {
    const ValueId outer = site.inputs[1 - i];
    const Node* inner = site.Producer(i, op);
    if (inner == nullptr || site.graph().ConstantOf(outer) == nullptr) continue;
    for (const size_t j : {0, 1}) {
      const ValueId constant = inner->inputs[1 - j];
      const ValueId x = inner->inputs[j];
      if (site.graph().ConstantOf(constant) == nullptr) continue;
      TUNEC_ASSIGN(const ValueId joined, site.builder.Add(op, {constant, outer}));
      return site.builder.Add(op, {x, joined}, {}, site.node.name, site.node.where);
    }
  }
  return kUnchanged;
}

// x / x -> 1, x - x -> 0, exp(log x) -> x: wrong for zeros, NaN and infinities.
RewriteResult CancelFast(const RewriteSite& site) {
  if (site.rules != FloatRules::kFast || !site.output_type().IsFixed()) return kUnchanged;
  const Op op = site.node.op;
  if ((op == Op::kDiv || op == Op::kSub) && site.inputs[0] == site.inputs[1] && !site.MakesOutput())
    return AddUniform(site, op == Op::kDiv ? 1 : 0);
  const Node* log = op == Op::kExp ? site.Producer(0, Op::kLog) : nullptr;
  if (log == nullptr) return kUnchanged;
  return log->inputs[0];
}

constexpr RewriteRule kRules[] = {
    {"identity", RemoveIdentity},
    {"add-zero", AddZero},
    {"subtract-zero", SubtractZero},
    {"multiply-by-one", MultiplyByOne},
    {"multiply-by-zero", MultiplyByZero},
    {"divide-by-power-of-two", DivideByPowerOfTwo},
    {"square", Square},
    {"involution", CancelInvolution},
    {"repeated", DropRepeated},
    {"cast", SimplifyCast},
    {"relu", NormaliseRelu},
    {"gather-constants", GatherConstants},
    {"cancel", CancelFast},
};

}  // namespace

std::span<const RewriteRule> AlgebraRules() { return kRules; }

}  // namespace tunec
