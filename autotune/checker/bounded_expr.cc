// The bounds of an expression are expressions too, and become kernels. A rule uses the errors of
// its operands at most twice, since the bound of a deep expression would otherwise be too large to
// print. If a function is steeper on one side of its argument, the error is the change of the
// function on that side.
#include "autotune/checker/bounded_expr.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "autotune/checker/check.h"
#include "autotune/checker/reference_compute.h"
#include "ir/rounding.h"
#include "support/check.h"

namespace tunec {
namespace {

constexpr DataType kWide = DataType::kF64;

Expr Number(double value) { return Expr::Constant(value, kWide); }
Expr Apply(ScalarOp op, Expr a, Expr b) { return Expr::Apply(op, {std::move(a), std::move(b)}); }
Expr Abs(const Expr& x) { return Unary(ScalarOp::kAbs, x); }
bool IsZero(const Expr& x) { return x.IsConstant(0.0); }

// Arithmetic of errors. A literal zero is left out, so that exact expressions stay exact.
Expr Plus(const Expr& a, const Expr& b) { return IsZero(a) ? b : IsZero(b) ? a : a + b; }
Expr Times(const Expr& a, const Expr& b) { return IsZero(a) || IsZero(b) ? Number(0) : a * b; }
Expr Larger(const Expr& a, const Expr& b) { return IsZero(a) ? b : IsZero(b) ? a : Max(a, b); }
Expr AboveZero(const Expr& x) { return Max(x, Number(0)); }
Expr IsPositive(const Expr& x) { return Apply(ScalarOp::kLt, Number(0), x); }
Expr Where(const Expr& condition, const Expr& yes) {
  return Expr::Select(condition, yes, Number(0));
}

// Returns |x| as f64, or 0 for infinities: an infinite value has no rounding error.
Expr Magnitude(const Expr& x) {
  if (!IsFloat(x.type())) return Abs(Expr::Cast(x, kWide));
  return Expr::Select(Unary(ScalarOp::kIsInf, x), Number(0), Abs(x));
}

// Returns `error` plus the error of rounding the value to `type` once. Integers, and floats that
// are whole, are exact.
Expr AddRounding(const Expr& error, const Expr& value, DataType type, bool whole) {
  if (!IsFloat(type) || whole) return error;
  return AddRelative(error, value, RoundingOf(type));
}

bool IsWhole(const Expr& constant) {
  const ExprNode& node = constant.node();
  return !IsFloat(node.type) || std::floor(node.float_value) == node.float_value;
}

// Returns f(x + error) - f(x - error), the largest change of a function that never decreases.
Expr Step(const BoundedValue& x, const std::function<Expr(const Expr&)>& function) {
  const Expr at = Expr::Cast(x.value, kWide);
  return function(at + x.error) - function(at - x.error);
}

// An argument, and another one within its error whose function value differs most.
struct SteepestPair {
  Expr from, to;
};

// Returns the pair for a function that is convex or concave in x or in |x|. Returns none for a
// function whose slope never exceeds kGreatestSlope. Requires: FunctionErrorOf supports `op`.
std::optional<SteepestPair> FindSteepestPair(ScalarOp op, const Expr& x, const Expr& error) {
  const Expr size = Abs(x);
  switch (op) {
    case ScalarOp::kExp:
    case ScalarOp::kExpm1:
      return SteepestPair{x, x + error};
    case ScalarOp::kSqrt:
    case ScalarOp::kRsqrt:
    case ScalarOp::kLog:
    case ScalarOp::kLog2:
    case ScalarOp::kLog10:
      return SteepestPair{x, AboveZero(x - error)};
    case ScalarOp::kLog1p:
      return SteepestPair{x, Max(x - error, Number(-1))};
    case ScalarOp::kAcosh:
      return SteepestPair{x, Max(x - error, Number(1))};
    case ScalarOp::kSinh:
    case ScalarOp::kCosh:
    case ScalarOp::kTan:
      return SteepestPair{size, size + error};
    case ScalarOp::kAsin:
    case ScalarOp::kAcos:
    case ScalarOp::kAtanh:
      return SteepestPair{size, Min(size + error, Number(1))};
    case ScalarOp::kTanh:
    case ScalarOp::kErf:
    case ScalarOp::kGelu:
    case ScalarOp::kGeluTanh:
    case ScalarOp::kSilu:
    case ScalarOp::kMish:
    case ScalarOp::kSin:
    case ScalarOp::kCos:
    case ScalarOp::kAtan:
    case ScalarOp::kAsinh:
      return std::nullopt;
    default:
      TUNEC_UNREACHABLE("the slope of {}", Name(op));
  }
}

// The slope of gelu at the square root of 2, slightly more than that of erf at 0. The slope of
// gelu's approximation is 1.12936.
constexpr double kGreatestSlope = 1.13;

class Bounder {
 public:
  using Leaf = std::function<BoundedValue(const Expr&)>;
  explicit Bounder(const Leaf& leaf) : leaf_(leaf) {}

  BoundedValue Of(const Expr& expr) const {
    switch (expr.kind()) {
      case ExprKind::kConstant:
        return {PromoteToFloat64(expr), Number(0), IsWhole(expr)};
      case ExprKind::kIndex:
      case ExprKind::kHolds:
        return {PromoteToFloat64(expr), Number(0), true};
      case ExprKind::kRead:
      case ExprKind::kAccumulator:
      case ExprKind::kIncoming:
        return leaf_(expr);
      case ExprKind::kCast:
        return OfCast(Of(expr.operands()[0]), expr.operands()[0].type(), expr.type());
      case ExprKind::kApply:
        return OfApply(expr);
    }
    return leaf_(expr);
  }

 private:
  BoundedValue OfApply(const Expr& expr) const;
  static Expr ErrorOf(const Expr& expr, const Expr& value, const std::vector<BoundedValue>& of);
  static BoundedValue OfCast(const BoundedValue& x, DataType from, DataType to);

  const Leaf& leaf_;
};

bool IsSteppy(ScalarOp op) {
  switch (op) {
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kTrunc:
    case ScalarOp::kSign:
    case ScalarOp::kFloorMod:
    case ScalarOp::kTruncMod:
    case ScalarOp::kEq:
    case ScalarOp::kNe:
    case ScalarOp::kLt:
    case ScalarOp::kLe:
      return true;
    default:
      return false;
  }
}

bool IsWholeResult(ScalarOp op, const std::vector<BoundedValue>& of) {
  const auto whole = [](const BoundedValue& x) { return x.whole; };
  switch (op) {
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kTrunc:
    case ScalarOp::kSign:
      return true;
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kFma:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kNeg:
    case ScalarOp::kAbs:
    case ScalarOp::kFloorMod:
    case ScalarOp::kTruncMod:
      return std::ranges::all_of(of, whole);
    case ScalarOp::kSelect:
      return of[1].whole && of[2].whole;
    default:
      return false;
  }
}

// Returns the error of a product; the errors of both factors may be large.
Expr ProductError(const BoundedValue& a, const BoundedValue& b) {
  const Expr first = Plus(Times(Magnitude(a.value), b.error), Times(Magnitude(b.value), a.error));
  return Plus(first, Times(a.error, b.error));
}

Expr QuotientError(const BoundedValue& a, const BoundedValue& b, const Expr& value) {
  Expr above = Plus(a.error, Times(Magnitude(value), b.error));
  if (IsZero(above)) return above;
  const Expr size = Abs(Expr::Cast(b.value, kWide));
  const Expr error = above / (IsZero(b.error) ? size : AboveZero(size - b.error));
  // Integers are truncated towards zero afterwards.
  return IsFloat(value.type()) ? error : Plus(error, Where(IsPositive(above), Number(1)));
}

// Returns the error of a - b * floor(a / b), or with truncation instead of floor. It is at least
// |b| if the error of a and b may change the rounded quotient.
Expr RemainderError(ScalarOp op, const BoundedValue& a, const BoundedValue& b) {
  const Expr x = Expr::Cast(a.value, kWide);
  const Expr y = Expr::Cast(b.value, kWide);
  Expr error = Plus(a.error, Times(Magnitude(x / y), b.error));
  if (IsZero(error)) return error;
  const ScalarOp step = op == ScalarOp::kFloorMod ? ScalarOp::kFloor : ScalarOp::kTrunc;
  const Expr moved =
      Apply(ScalarOp::kNe, Unary(step, (x + error) / y), Unary(step, (x - error) / y));
  return Max(error, Where(moved, Abs(y)));
}

Expr PowerError(const BoundedValue& a, const BoundedValue& b, const Expr& value) {
  Expr error = Number(0);
  if (!IsZero(a.error)) {
    const Expr size = Abs(a.value);
    const auto at = [&](const Expr& x) {
      return Abs(Apply(ScalarOp::kPow, x, b.value) - Abs(value));
    };
    error = Max(at(size + a.error), at(AboveZero(size - a.error)));
  }
  if (IsZero(b.error)) return error;
  const Expr exponent = Times(Abs(Unary(ScalarOp::kLog, Abs(a.value))), b.error);
  return Plus(error, Magnitude(value) * (Unary(ScalarOp::kExp, exponent) - Number(1)));
}

Expr ComparisonError(const BoundedValue& a, const BoundedValue& b) {
  if (a.value.type() == DataType::kBool) return Larger(a.error, b.error);
  Expr near = Plus(a.error, b.error);
  if (IsZero(near)) return near;
  const Expr apart = Abs(Expr::Cast(a.value, kWide) - Expr::Cast(b.value, kWide));
  const Expr unsure = Apply(ScalarOp::kAnd, Apply(ScalarOp::kLe, apart, near), IsPositive(near));
  return Where(unsure, Number(1));
}

Expr SelectError(const BoundedValue& condition, const BoundedValue& yes, const BoundedValue& no,
                 const Expr& value) {
  const Expr either = Larger(yes.error, no.error);
  if (IsZero(condition.error)) {
    return IsZero(either) ? either : Expr::Select(condition.value, yes.error, no.error);
  }
  if (value.type() == DataType::kBool) return Larger(condition.error, either);
  const Expr apart = Abs(Expr::Cast(yes.value, kWide) - Expr::Cast(no.value, kWide));
  return Plus(either, Where(IsPositive(condition.error), apart));
}

// Returns the error of and, or, xor, not and shifts. If an operand may be off, every integer result
// is allowed.
Expr BitsError(const std::vector<BoundedValue>& of, DataType type) {
  Expr any = Number(0);
  for (const BoundedValue& x : of) any = Larger(any, x.error);
  if (IsZero(any) || type == DataType::kBool) return any;
  return Where(IsPositive(any), Number(std::exp2(8.0 * static_cast<double>(SizeOf(type)))));
}

Expr FunctionErrorOf(ScalarOp op, const BoundedValue& x, const Expr& value) {
  Expr error = Number(0);
  if (!x.IsExact()) {
    const auto steepest = FindSteepestPair(op, x.value, x.error);
    error = steepest ? Abs(Unary(op, steepest->to) - Unary(op, steepest->from))
                     : x.error * Number(kGreatestSlope);
  }
  return AddRelative(error, value, FunctionError(op));
}

Expr Bounder::ErrorOf(const Expr& expr, const Expr& value, const std::vector<BoundedValue>& of) {
  const ScalarOp op = expr.node().op;
  switch (op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
      return Plus(of[0].error, of[1].error);
    case ScalarOp::kMul:
      return ProductError(of[0], of[1]);
    case ScalarOp::kFma:
      return Plus(ProductError(of[0], of[1]), of[2].error);
    case ScalarOp::kDiv:
      return QuotientError(of[0], of[1], value);
    case ScalarOp::kFloorMod:
    case ScalarOp::kTruncMod:
      return RemainderError(op, of[0], of[1]);
    case ScalarOp::kPow:
      return IsFloat(expr.type()) ? PowerError(of[0], of[1], value) : BitsError(of, expr.type());
    case ScalarOp::kMin:
    case ScalarOp::kMax:
      return Larger(of[0].error, of[1].error);
    case ScalarOp::kNeg:
    case ScalarOp::kAbs:
      return of[0].error;
    case ScalarOp::kEq:
    case ScalarOp::kNe:
    case ScalarOp::kLt:
    case ScalarOp::kLe:
      return ComparisonError(of[0], of[1]);
    case ScalarOp::kSelect:
      return SelectError(of[0], of[1], of[2], value);
    case ScalarOp::kIsNan:
    case ScalarOp::kIsInf:
      return Number(0);
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kTrunc:
    case ScalarOp::kSign:
      if (of[0].IsExact() || (of[0].whole && op != ScalarOp::kSign)) return of[0].error;
      return Expr::Cast(Step(of[0], [&](const Expr& x) { return Unary(op, x); }), kWide);
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
    case ScalarOp::kShl:
    case ScalarOp::kShr:
      return BitsError(of, expr.type());
    default:  // a function; FindSteepestPair fails if it is unknown
      return FunctionErrorOf(op, of[0], value);
  }
}

bool IsRounded(ScalarOp op) {
  switch (op) {
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kNeg:
    case ScalarOp::kAbs:
    case ScalarOp::kSelect:
    case ScalarOp::kFloorMod:
    case ScalarOp::kTruncMod:
      return false;
    default:
      return true;
  }
}

BoundedValue Bounder::OfApply(const Expr& expr) const {
  const ScalarOp op = expr.node().op;
  std::vector<BoundedValue> of;
  std::vector<Expr> values;
  for (const Expr& operand : expr.operands()) {
    of.push_back(Of(operand));
    values.push_back(of.back().value);
  }
  BoundedValue result{Expr::Apply(op, std::move(values)), Number(0), IsWholeResult(op, of)};
  result.error = ErrorOf(expr, result.value, of);
  const bool exact = result.IsExact();
  for (const BoundedValue& operand : of) result.stepped |= operand.stepped;
  result.stepped = !exact && (result.stepped || IsSteppy(op));
  if (IsRounded(op)) {
    result.error = AddRounding(result.error, result.value, expr.type(), result.whole);
  }
  return result;
}

BoundedValue Bounder::OfCast(const BoundedValue& x, DataType from, DataType to) {
  BoundedValue result = x;
  result.value = Expr::Cast(x.value, IsFloat(to) ? kWide : to);
  if (to == DataType::kBool && from != DataType::kBool) {
    result.error = ComparisonError(x, {Expr::Cast(Number(0), x.value.type()), Number(0)});
    result.whole = true;
    result.stepped = !result.IsExact();
  } else if (IsFloat(to)) {
    const bool narrower = IsFloat(from) && RoundingOf(to) > RoundingOf(from);
    if (narrower) result.error = AddRelative(x.error, x.value, RoundingOf(to));
  } else if (IsFloat(from) && !x.whole) {
    result.whole = true;
    if (x.IsExact()) return result;
    // A cast keeps the low bits of a value that does not fit, so the difference may be negative.
    result.error =
        Abs(Step(x, [&](const Expr& y) { return Expr::Cast(Expr::Cast(y, to), kWide); }));
    result.stepped = true;
  }
  return result;
}

}  // namespace

BoundedValue BoundOf(const Expr& expr, const std::function<BoundedValue(const Expr&)>& leaf) {
  return Bounder(leaf).Of(expr);
}

Expr AddRelative(const Expr& error, const Expr& value, double relative) {
  if (relative == 0) return error;
  return Plus(error, Number(relative) * Magnitude(value));
}

}  // namespace tunec
