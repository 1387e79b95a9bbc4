#include "jit/emit/state.h"

namespace tunec::jit {

Condition EmitNonNegative(EmitState& state, const LinearIndex& value, Interval bounds) {
  if (bounds.lo >= 0) return {};
  if (bounds.hi < 0) return {Condition::Kind::kNever, state.builder.Bool(false)};
  Builder& b = state.builder;
  if (value.IsUniform()) {
    const IrValue scalar = state.index.Scalar(value);
    return {Condition::Kind::kUniform, b.Cmp(Compare::kSge, scalar, b.I64(0))};
  }
  const bool narrow = bounds.lo >= INT32_MIN && bounds.hi <= INT32_MAX;
  const Element element = narrow ? Element::kI32 : Element::kI64;
  const IrValue lanes = state.index.Vector(value, element);
  return {Condition::Kind::kLanes, b.Cmp(Compare::kSge, lanes, b.Int(element, 0))};
}

Condition EmitCondition(EmitState& state, const std::vector<IndexExpr>& nonnegative) {
  using Kind = Condition::Kind;
  Condition all;
  for (const IndexExpr& expr : nonnegative) {
    const LinearIndex value = state.index.Evaluate(expr);
    Condition one = EmitNonNegative(state, value, state.index.Bounds(expr, value));
    if (one.kind == Kind::kNever) return one;
    if (one.kind == Kind::kAlways) continue;
    all.value = all.kind == Kind::kAlways ? one.value : state.builder.And(all.value, one.value);
    if (all.kind != Kind::kLanes) all.kind = one.kind;
  }
  return all;
}

}  // namespace tunec::jit
