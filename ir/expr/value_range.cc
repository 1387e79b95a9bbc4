#include "ir/expr/value_range.h"

#include <algorithm>
#include <cmath>

#include "ir/rounding.h"

namespace tunec {
namespace {

FloatRange OfCast(const Expr& operand) {
  const DataType from = operand.type();
  if (IsFloat(from)) return FloatRangeOf(operand);
  return {IntToDouble(SmallestInt(from), from), IntToDouble(LargestInt(from), from), false};
}

/// Returns the range of a minimum or maximum with a literal operand. The result may be NaN if the
/// other operand may be NaN. Returns all values if no operand is a literal or the literal is NaN.
FloatRange OfExtreme(const Expr& expr) {
  const auto& operands = expr.operands();
  const size_t literal = operands[0].IsConstant() ? 0 : 1;
  if (!operands[literal].IsConstant()) return {};
  const double bound = operands[literal].node().float_value;
  if (std::isnan(bound)) return {};
  FloatRange range = FloatRangeOf(operands[1 - literal]);
  if (expr.Is(ScalarOp::kMin)) {
    range.lo = std::min(range.lo, bound);
    range.hi = std::min(range.hi, bound);
  } else {
    range.lo = std::max(range.lo, bound);
    range.hi = std::max(range.hi, bound);
  }
  return range;
}

FloatRange OfRounding(const Expr& operand, double (*round)(double)) {
  FloatRange range = FloatRangeOf(operand);
  range.lo = round(range.lo);
  range.hi = round(range.hi);
  return range;
}

FloatRange OfApply(const Expr& expr) {
  switch (expr.node().op) {
    case ScalarOp::kMin:
    case ScalarOp::kMax:
      return OfExtreme(expr);
    case ScalarOp::kFloor:
      return OfRounding(expr.operands()[0], std::floor);
    case ScalarOp::kCeil:
      return OfRounding(expr.operands()[0], std::ceil);
    case ScalarOp::kRound:
      return OfRounding(expr.operands()[0], std::nearbyint);
    case ScalarOp::kTrunc:
      return OfRounding(expr.operands()[0], std::trunc);
    default:
      return {};
  }
}

FloatRange Unrounded(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::kConstant:
      if (std::isnan(expr.node().float_value)) return {};
      return {expr.node().float_value, expr.node().float_value, false};
    case ExprKind::kCast:
      return OfCast(expr.operands()[0]);
    case ExprKind::kApply:
      return OfApply(expr);
    default:
      return {};
  }
}

}  // namespace

FloatRange FloatRangeOf(const Expr& expr) {
  FloatRange range = Unrounded(expr);
  range.lo = RoundTo(range.lo, expr.type());  // rounding preserves order
  range.hi = RoundTo(range.hi, expr.type());
  return range;
}

}  // namespace tunec
