// The bounds of an expression are expressions too, and are compiled to kernels. A rule uses the
// error of an operand at most three times, since the bound of a deep expression would otherwise be
// too large to print. If a function is convex or concave, its error is the change of the function
// on the steeper side of its argument.
#include "autotune/checker/bounded_expr.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "autotune/checker/check.h"
#include "autotune/checker/reference_compute.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

constexpr DataType kWide = DataType::kF64;

Expr Number(double value) { return Expr::Constant(value, kWide); }
Expr Apply(ScalarOp op, Expr a, Expr b) { return Expr::Apply(op, {std::move(a), std::move(b)}); }
Expr Abs(const Expr& x) { return Unary(ScalarOp::kAbs, x); }
bool IsZero(const Expr& x) { return x.IsConstant(0.0); }

// The following functions build expressions of errors. Plus, Times and Larger simplify literal
// zeros, so that exact expressions stay exact.
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

// Returns the error of a product. It includes the product of both errors, which may be large.
Expr ProductError(const BoundedValue& a, const BoundedValue& b) {
  const Expr first = Plus(Times(Magnitude(a.value), b.error), Times(Magnitude(b.value), a.error));
  return Plus(first, Times(a.error, b.error));
}

Expr QuotientError(const BoundedValue& a, const BoundedValue& b, const Expr& value) {
  Expr above = Plus(a.error, Times(Magnitude(value), b.error));
  if (IsZero(above)) return above;
  const Expr size = Abs(Expr::Cast(b.value, kWide));
  const Expr error = above / (IsZero(b.error) ? size : AboveZero(size - b.error));
  // The quotient of integers is truncated towards zero, which may change the result by 1 more.
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

// Returns the error of and, or, xor, not, shifts and integer powers. If an operand may be inexact,
// every integer result is allowed.
Expr BitsError(const std::vector<BoundedValue>& of, DataType type) {
  Expr any = Number(0);
  for (const BoundedValue& x : of) any = Larger(any, x.error);
  if (IsZero(any) || type == DataType::kBool) return any;
  return Where(IsPositive(any), Number(std::exp2(8.0 * static_cast<double>(SizeOf(type)))));
}

// --- rules of the column `checker` in ir/expr/scalar_op.h ---

// An operation of the checked expression. `value` is its result, `of` has the bounded operands.
struct Operation {
  ScalarOp op;
  DataType type;  // type of the result in the checked expression
  const Expr& value;
  const std::vector<BoundedValue>& of;
};

// Returns the change of a function with steps, such as floor or sign, within its operand's error.
Expr StepError(const Operation& o) {
  const BoundedValue& x = o.of[0];
  if (x.IsExact()) return x.error;
  return Expr::Cast(Step(x, [&](const Expr& y) { return Unary(o.op, y); }), kWide);
}

// The operand of a function or its magnitude, and the point within the operand's error at which the
// result differs most.
struct SteepestPair {
  Expr from, to;
};

// These functions return the pair for an operand x. `to` is above x, between `bound` and x, or
// farther from 0. The Outward functions replace x by |x|. OutwardTo1 limits `to` to 1.
SteepestPair Above(const Expr& x, const Expr& error) { return {x, x + error}; }
template <int bound>
SteepestPair Toward(const Expr& x, const Expr& error) {
  return {x, Max(x - error, Number(bound))};
}
SteepestPair Outward(const Expr& x, const Expr& error) {
  const Expr size = Abs(x);
  return {size, size + error};
}
SteepestPair OutwardTo1(const Expr& x, const Expr& error) {
  const Expr size = Abs(x);
  return {size, Min(size + error, Number(1))};
}

// Returns the change of a function between the two values that `steepest` returns, plus the
// function's own error.
template <SteepestPair (*steepest)(const Expr& x, const Expr& error)>
Expr FunctionErrorOf(const Operation& o) {
  const BoundedValue& x = o.of[0];
  Expr error = Number(0);
  if (!x.IsExact()) {
    const SteepestPair pair = steepest(x.value, x.error);
    error = Abs(Unary(o.op, pair.to) - Unary(o.op, pair.from));
  }
  return AddRelative(error, o.value, FunctionError(o.op));
}

// An upper bound for the slopes of the functions with kBoundedSlope. The steepest are erf with
// 1.12838, gelu with 1.12890 and gelu's approximation with 1.12899.
constexpr double kGreatestSlope = 1.13;

// The condition under which the result of an operation is a whole number.
enum class Whole : uint8_t {
  kNever,
  kAlways,
  kOfOperands,  // if all operands are
  kOfChosen,    // if both values of a selection are
};

// A rule for the error of an operation's result.
struct Rule {
  Expr (*error)(const Operation&);  // the error of the exact operation on operands with errors
  Whole whole = Whole::kNever;
  bool is_rounded = true;  // the operation also rounds its result to the type
  bool is_step = false;    // small errors of the operands may become large
};

constexpr Rule kSum = {
    .error = [](const Operation& o) { return Plus(o.of[0].error, o.of[1].error); },
    .whole = Whole::kOfOperands};

constexpr Rule kProduct = {
    .error = [](const Operation& o) { return ProductError(o.of[0], o.of[1]); },
    .whole = Whole::kOfOperands};

constexpr Rule kMultiplyAdd = {
    .error = [](const Operation& o) { return Plus(ProductError(o.of[0], o.of[1]), o.of[2].error); },
    .whole = Whole::kOfOperands};

constexpr Rule kQuotient = {
    .error = [](const Operation& o) { return QuotientError(o.of[0], o.of[1], o.value); }};

constexpr Rule kRemainder = {
    .error = [](const Operation& o) { return RemainderError(o.op, o.of[0], o.of[1]); },
    .whole = Whole::kOfOperands,
    .is_rounded = false,
    .is_step = true};

constexpr Rule kPower = {.error = [](const Operation& o) {
  return IsFloat(o.type) ? PowerError(o.of[0], o.of[1], o.value) : BitsError(o.of, o.type);
}};

constexpr Rule kExtreme = {
    .error = [](const Operation& o) { return Larger(o.of[0].error, o.of[1].error); },
    .whole = Whole::kOfOperands,
    .is_rounded = false};

constexpr Rule kSame = {.error = [](const Operation& o) { return o.of[0].error; },
                        .whole = Whole::kOfOperands,
                        .is_rounded = false};

constexpr Rule kComparison = {
    .error = [](const Operation& o) { return ComparisonError(o.of[0], o.of[1]); }, .is_step = true};

constexpr Rule kSelection = {
    .error = [](const Operation& o) { return SelectError(o.of[0], o.of[1], o.of[2], o.value); },
    .whole = Whole::kOfChosen,
    .is_rounded = false};

constexpr Rule kExact = {.error = [](const Operation&) { return Number(0); }};

constexpr Rule kSign = {.error = StepError, .whole = Whole::kAlways, .is_step = true};

constexpr Rule kStep = {
    .error = [](const Operation& o) { return o.of[0].whole ? o.of[0].error : StepError(o); },
    .whole = Whole::kAlways,
    .is_step = true};

constexpr Rule kBits = {.error = [](const Operation& o) { return BitsError(o.of, o.type); }};

// Rules of functions that are convex or concave in x or in |x|; tan is so below pi / 2. The error
// is the change of the function on the steeper side, plus the function's own error.
constexpr Rule kSteepAbove = {.error = FunctionErrorOf<Above>};
constexpr Rule kSteepToward0 = {.error = FunctionErrorOf<Toward<0>>};
constexpr Rule kSteepTowardMinus1 = {.error = FunctionErrorOf<Toward<-1>>};
constexpr Rule kSteepToward1 = {.error = FunctionErrorOf<Toward<1>>};
constexpr Rule kSteepOutward = {.error = FunctionErrorOf<Outward>};
constexpr Rule kSteepOutwardTo1 = {.error = FunctionErrorOf<OutwardTo1>};
// The rule of functions whose slope never exceeds kGreatestSlope.
constexpr Rule kBoundedSlope = {.error = [](const Operation& o) {
  const BoundedValue& x = o.of[0];
  const Expr error = x.IsExact() ? Number(0) : x.error * Number(kGreatestSlope);
  return AddRelative(error, o.value, FunctionError(o.op));
}};

constexpr Rule kRules[] = {
#define TUNEC_RULE(id, name, operands, result, domain, order, checker) k##checker,
    TUNEC_SCALAR_OPS(TUNEC_RULE)
#undef TUNEC_RULE
};

const Rule& RuleOf(ScalarOp op) { return kRules[static_cast<size_t>(op)]; }

bool IsWholeResult(Whole whole, const std::vector<BoundedValue>& of) {
  switch (whole) {
    case Whole::kNever:
      return false;
    case Whole::kAlways:
      return true;
    case Whole::kOfOperands:
      return std::ranges::all_of(of, &BoundedValue::whole);
    case Whole::kOfChosen:
      return of[1].whole && of[2].whole;
  }
  return false;
}

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
  static BoundedValue OfCast(const BoundedValue& x, DataType from, DataType to);

  const Leaf& leaf_;
};

BoundedValue Bounder::OfApply(const Expr& expr) const {
  const ScalarOp op = expr.node().op;
  const Rule& rule = RuleOf(op);
  std::vector<BoundedValue> of;
  std::vector<Expr> values;
  for (const Expr& operand : expr.operands()) {
    of.push_back(Of(operand));
    values.push_back(of.back().value);
  }
  BoundedValue result{Expr::Apply(op, std::move(values)), Number(0), IsWholeResult(rule.whole, of)};
  result.error = rule.error({op, expr.type(), result.value, of});
  const bool exact = result.IsExact();
  for (const BoundedValue& operand : of) result.stepped |= operand.stepped;
  result.stepped = !exact && (result.stepped || rule.is_step);
  if (rule.is_rounded) {
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
    // A cast of values that do not fit is not monotonic, so the difference may be negative.
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
