// Simplification of scalar expressions by a table of rewrite rules. A rule is a pattern and its
// replacement. x, y, z match any expression; a number matches the literal of this value and sign. A
// rule holds for every input of the types in its domain, including NaN, infinities and signed
// zeros. Rewrites that can change results for such inputs are rules of graphs (graph/rules).
// Besides the table, operators on literals are evaluated, casts of lossless casts are simplified,
// and divisions by powers of two become products.
//
// Every rule makes the expression smaller or replaces pow by other operators, so rewriting
// terminates. Examples: select(not c, x, y) to select(c, y, x), x + -y to x - y.
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ir/expr/evaluate_expr.h"
#include "ir/expr/expr.h"

namespace tunec {
namespace {

struct Pattern {
  enum class Kind { kAny, kNumber, kApply };
  Kind kind = Kind::kAny;
  int any = 0;  // kAny: number of the variable; equal numbers match equal expressions
  double number = 0;
  ScalarOp op = ScalarOp::kAdd;
  std::vector<Pattern> operands;
};

Pattern Any(int which) { return {.kind = Pattern::Kind::kAny, .any = which, .operands = {}}; }
Pattern N(double value) {
  return {.kind = Pattern::Kind::kNumber, .number = value, .operands = {}};
}
template <class... Operands>
Pattern A(ScalarOp op, Operands... operands) {
  return {.kind = Pattern::Kind::kApply, .op = op, .operands = {std::move(operands)...}};
}

struct Rule {
  Domain domain;  // types of the operands of the pattern's root
  Pattern pattern;
  Pattern replacement;
};

std::vector<Rule> MakeRules() {
  using enum ScalarOp;
  using enum Domain;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Pattern x = Any(0);
  const Pattern y = Any(1);
  const Pattern z = Any(2);
  return {
      // Sums. For x = -0, x + 0 is not x, but x + -0 and x - 0 are x.
      {kInteger, A(kAdd, x, N(0)), x},
      {kFloat, A(kAdd, x, N(-0.0)), x},
      {kAny, A(kSub, x, N(0)), x},
      {kInteger, A(kSub, x, x), N(0)},
      {kInteger, A(kSub, N(0), x), A(kNeg, x)},
      {kFloat, A(kSub, N(-0.0), x), A(kNeg, x)},
      {kAny, A(kAdd, x, A(kNeg, y)), A(kSub, x, y)},
      {kAny, A(kSub, x, A(kNeg, y)), A(kAdd, x, y)},
      // Products, quotients and remainders.
      {kAny, A(kMul, x, N(1)), x},
      {kAny, A(kMul, x, N(-1)), A(kNeg, x)},
      {kAny, A(kMul, A(kNeg, x), A(kNeg, y)), A(kMul, x, y)},
      {kInteger, A(kMul, x, N(0)), N(0)},
      {kAny, A(kDiv, x, N(1)), x},
      {kFloat, A(kDiv, x, N(-1)), A(kNeg, x)},
      {kFloat, A(kDiv, A(kNeg, x), A(kNeg, y)), A(kDiv, x, y)},
      {kInteger, A(kFloorMod, x, N(1)), N(0)},
      {kInteger, A(kTruncMod, x, N(1)), N(0)},
      {kFloat, A(kFma, x, N(1), z), A(kAdd, x, z)},
      {kFloat, A(kFma, x, y, N(-0.0)), A(kMul, x, y)},
      // Signs.
      {kAny, A(kNeg, A(kNeg, x)), x},
      {kFloat, A(kAbs, A(kNeg, x)), A(kAbs, x)},
      {kAny, A(kAbs, A(kAbs, x)), A(kAbs, x)},
      {kAny, A(kSign, A(kSign, x)), A(kSign, x)},
      // Powers.
      {kAny, A(kPow, x, N(0)), N(1)},
      {kAny, A(kPow, x, N(1)), x},
      {kAny, A(kPow, x, N(2)), A(kMul, x, x)},
      {kFloat, A(kPow, x, N(-1)), A(kDiv, N(1), x)},
      // Minimum and maximum; NaN if either operand is NaN.
      {kAny, A(kMin, x, x), x},
      {kAny, A(kMax, x, x), x},
      {kFloat, A(kMin, x, N(kInf)), x},
      {kFloat, A(kMax, x, N(-kInf)), x},
      {kAny, A(kMin, A(kMin, x, y), y), A(kMin, x, y)},
      {kAny, A(kMax, A(kMax, x, y), y), A(kMax, x, y)},
      // Rounding.
      {kInteger, A(kFloor, x), x},
      {kInteger, A(kCeil, x), x},
      {kInteger, A(kRound, x), x},
      {kInteger, A(kTrunc, x), x},
      {kFloat, A(kFloor, A(kFloor, x)), A(kFloor, x)},
      {kFloat, A(kCeil, A(kCeil, x)), A(kCeil, x)},
      {kFloat, A(kRound, A(kRound, x)), A(kRound, x)},
      {kFloat, A(kTrunc, A(kTrunc, x)), A(kTrunc, x)},
      // Comparisons. x == x is false for NaN.
      {kBits, A(kEq, x, x), N(1)},
      {kBits, A(kNe, x, x), N(0)},
      {kFloat, A(kNe, x, x), A(kIsNan, x)},
      {kAny, A(kLt, x, x), N(0)},
      {kBits, A(kLe, x, x), N(1)},
      {kBits, A(kIsNan, x), N(0)},
      {kBits, A(kIsInf, x), N(0)},
      {kBool, A(kEq, x, N(1)), x},
      {kBool, A(kEq, x, N(0)), A(kNot, x)},
      {kBool, A(kNe, x, N(0)), x},
      {kBool, A(kNe, x, N(1)), A(kNot, x)},
      {kBool, A(kNot, A(kEq, x, y)), A(kNe, x, y)},
      {kBool, A(kNot, A(kNe, x, y)), A(kEq, x, y)},
      // Logic and bits.
      {kBits, A(kNot, A(kNot, x)), x},
      {kBits, A(kAnd, x, x), x},
      {kBits, A(kOr, x, x), x},
      {kBits, A(kXor, x, x), N(0)},
      {kBits, A(kAnd, x, N(0)), N(0)},
      {kBits, A(kOr, x, N(0)), x},
      {kBits, A(kXor, x, N(0)), x},
      {kBool, A(kAnd, x, N(1)), x},
      {kBool, A(kOr, x, N(1)), N(1)},
      {kBool, A(kXor, x, N(1)), A(kNot, x)},
      {kInteger, A(kShl, x, N(0)), x},
      {kInteger, A(kShr, x, N(0)), x},
      // Selections. The domain is that of the values, not of the condition.
      {kAny, A(kSelect, N(1), y, z), y},
      {kAny, A(kSelect, N(0), y, z), z},
      {kAny, A(kSelect, x, y, y), y},
      {kAny, A(kSelect, A(kNot, x), y, z), A(kSelect, x, z, y)},
      {kBool, A(kSelect, x, N(1), N(0)), x},
      {kBool, A(kSelect, x, N(0), N(1)), A(kNot, x)},
  };
}

bool IsNumber(const Expr& expr, double number) {
  if (!expr.IsConstant()) return false;
  if (!IsFloat(expr.type())) return static_cast<double>(expr.node().int_value) == number;
  return std::bit_cast<uint64_t>(expr.node().float_value) == std::bit_cast<uint64_t>(number);
}

using Bindings = std::vector<std::optional<Expr>>;

bool Match(const Pattern& pattern, const Expr& expr, Bindings& bindings);

bool MatchOperands(const Pattern& pattern, const Expr& expr, Bindings& bindings, bool swapped) {
  const size_t count = pattern.operands.size();
  for (size_t i = 0; i < count; ++i) {
    const Expr& operand = expr.operands()[swapped ? count - 1 - i : i];
    if (!Match(pattern.operands[i], operand, bindings)) return false;
  }
  return true;
}

bool Match(const Pattern& pattern, const Expr& expr, Bindings& bindings) {
  if (pattern.kind == Pattern::Kind::kNumber) return IsNumber(expr, pattern.number);
  if (pattern.kind == Pattern::Kind::kAny) {
    std::optional<Expr>& bound = bindings[pattern.any];
    if (!bound) bound = expr;
    return *bound == expr;
  }
  if (!expr.Is(pattern.op)) return false;
  const Bindings before = bindings;
  if (MatchOperands(pattern, expr, bindings, false)) return true;
  bindings = before;
  if (IsCommutative(pattern.op) && MatchOperands(pattern, expr, bindings, true)) return true;
  bindings = before;
  return false;
}

class Simplifier {
 public:
  static Expr Rewrite(const Expr& expr) {
    if (expr.kind() == ExprKind::kCast) return RewriteCast(expr);
    if (expr.kind() != ExprKind::kApply) return expr;
    if (const auto folded = Fold(expr)) return *folded;
    const DataType operand_type = expr.operands().back().type();
    for (const Rule& rule : Rules()) {
      if (!expr.Is(rule.pattern.op) || !Contains(rule.domain, operand_type)) continue;
      Bindings bindings(3);
      if (!Match(rule.pattern, expr, bindings)) continue;
      return Build(rule.replacement, bindings, expr.type());
    }
    return Halve(expr);
  }

 private:
  static const std::vector<Rule>& Rules() {
    static const std::vector<Rule> rules = MakeRules();
    return rules;
  }

  // Builds a replacement from the bound variables, and rewrites its operators. Its literals get
  // `type`, the type of the result.
  static Expr Build(const Pattern& pattern, const Bindings& bindings, DataType type) {
    if (pattern.kind == Pattern::Kind::kAny) return *bindings[pattern.any];
    if (pattern.kind == Pattern::Kind::kNumber) return Expr::Constant(pattern.number, type);
    std::vector<Expr> operands;
    for (const Pattern& operand : pattern.operands) {
      operands.push_back(Build(operand, bindings, type));
    }
    return Rewrite(Expr::Apply(pattern.op, std::move(operands)));
  }

  static std::optional<Expr> Fold(const Expr& expr) {
    for (const Expr& operand : expr.operands()) {
      if (!operand.IsConstant()) return std::nullopt;
    }
    if (expr.kind() == ExprKind::kApply &&
        !IsDefined(expr.node().op, expr.operands().back().type())) {
      return std::nullopt;
    }
    const Scalar value = EvaluateConstant(expr, Precision::kNative);
    if (value.invalid) return std::nullopt;
    return ConstantOf(value, expr.type());
  }

  // Tries to replace a float division by a literal power of two, or its negative, by an equal
  // product.
  static Expr Halve(const Expr& expr) {
    if (!expr.Is(ScalarOp::kDiv) || !IsFloat(expr.type())) return expr;
    const Expr& divisor = expr.operands()[1];
    if (!divisor.IsConstant()) return expr;
    int exponent = 0;
    const double value = divisor.node().float_value;
    const double inverse = 1 / value;
    const bool power = std::abs(std::frexp(value, &exponent)) == 0.5;
    // Neither the divisor nor its inverse may be subnormal, because kernels may flush subnormals.
    const bool ordinary = std::abs(exponent) < (expr.type() == DataType::kF16 ? 14 : 120);
    if (!power || !ordinary) return expr;
    return Rewrite(expr.operands()[0] * Expr::Constant(inverse, expr.type()));
  }

  static Expr RewriteCast(const Expr& expr) {
    const Expr& inner = expr.operands()[0];
    if (const auto folded = Fold(expr)) return *folded;
    if (inner.kind() != ExprKind::kCast) return expr;
    const Expr& source = inner.operands()[0];
    if (!IsLossless(source.type(), inner.type())) return expr;
    // Casting a float that does not fit an integer type differs from casting an integer, which
    // wraps.
    const bool through_float = IsInteger(source.type()) && IsFloat(inner.type());
    if (through_float && IsInteger(expr.type()) && !IsLossless(source.type(), expr.type()))
      return expr;
    return Expr::Cast(source, expr.type());
  }

  // Returns whether every value of `from` is a value of `to`.
  static bool IsLossless(DataType from, DataType to) {
    if (from == to || from == DataType::kBool) return true;
    if (to == DataType::kBool) return false;
    if (IsFloat(from)) {
      return to == DataType::kF64 ||
             (to == DataType::kF32 && (from == DataType::kF16 || from == DataType::kBF16));
    }
    const size_t bits = 8 * SizeOf(from) - (IsSigned(from) ? 1 : 0);
    if (to == DataType::kF64) return bits <= 53;
    if (to == DataType::kF32) return bits <= 24;
    if (to == DataType::kF16) return bits <= 11;
    if (to == DataType::kBF16) return bits <= 8;
    if (IsSigned(from) && !IsSigned(to)) return false;
    return bits <= 8 * SizeOf(to) - (IsSigned(to) ? 1 : 0);
  }
};

}  // namespace

Expr Simplify(const Expr& expr) {
  constexpr int kMostRounds = 16;
  Expr current = expr;
  for (int round = 0; round < kMostRounds; ++round) {
    Expr next = Transform(current, Simplifier::Rewrite);
    if (next == current) break;
    current = std::move(next);
  }
  return current;
}

}  // namespace tunec
