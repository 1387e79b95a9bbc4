#include "ir/size/size_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "ir/size/size_text.h"
#include "support/check.h"

namespace tunec {
namespace {

using Kind = SizeCondition::Kind;

bool IsLess(const SizeExpr& a, const SizeExpr& b, const SizeRanges& ranges) {
  return ProveAtMost(a + 1, b, ranges);
}

Decision DecideEqual(const SizeExpr& left, const SizeExpr& right, const SizeRanges& ranges) {
  if (ProveEqual(left, right, ranges)) return Decision::kTrue;
  const bool differ = IsLess(left, right, ranges) || IsLess(right, left, ranges);
  return differ ? Decision::kFalse : Decision::kOpen;
}

// Returns the equation difference == 0 without common terms and factors, such as `n mod 2 == 0`.
std::string EquationText(const SizeExpr& difference) {
  int64_t divisor = difference.constant();
  for (const SizeTerm& term : difference.terms()) divisor = std::gcd(divisor, term.coefficient);
  divisor = std::max<int64_t>(divisor, 1);
  std::vector<SizeTerm> positive;
  std::vector<SizeTerm> negative;
  const auto add = [&](int64_t coefficient, const std::vector<SizeFactorPtr>& factors) {
    std::vector<SizeTerm>& side = coefficient > 0 ? positive : negative;
    side.push_back({std::abs(coefficient) / divisor, factors});
  };
  for (const SizeTerm& term : difference.terms()) add(term.coefficient, term.factors);
  if (difference.constant() != 0) add(difference.constant(), {});
  return fmt::format("{} == {}", Print(MakeSum(positive)), Print(MakeSum(negative)));
}

}  // namespace

Decision Decide(const SizeCondition& condition, const SizeRanges& ranges) {
  const SizeExpr& left = condition.left;
  const SizeExpr& right = condition.right;
  if (!left.IsKnown() || !right.IsKnown()) return Decision::kFalse;
  if (left.IsConstant() && right.IsConstant())
    return HoldsFor(condition.kind, left.Value(), right.Value()) ? Decision::kTrue
                                                                 : Decision::kFalse;
  if (condition.kind == Kind::kEqual) return DecideEqual(left, right, ranges);
  if (condition.kind == Kind::kAtMost) {
    if (ProveAtMost(left, right, ranges)) return Decision::kTrue;
    return IsLess(right, left, ranges) ? Decision::kFalse : Decision::kOpen;
  }
  const Decision equal = DecideEqual(left, right, ranges);
  const Decision is_one = DecideEqual(left, 1, ranges);
  if (equal == Decision::kTrue || is_one == Decision::kTrue) return Decision::kTrue;
  const bool is_false = equal == Decision::kFalse && is_one == Decision::kFalse;
  return is_false ? Decision::kFalse : Decision::kOpen;
}

std::optional<bool> Holds(const SizeCondition& condition, const SizeValues& sizes) {
  const std::optional<int64_t> left = Evaluate(condition.left, sizes);
  const std::optional<int64_t> right = Evaluate(condition.right, sizes);
  if (!left || !right) return std::nullopt;
  return HoldsFor(condition.kind, *left, *right);
}

std::string Print(const SizeCondition& condition) {
  const std::string left = Print(condition.left);
  const std::string right = Print(condition.right);
  switch (condition.kind) {
    case Kind::kEqual:
      return EquationText(condition.left - condition.right);
    case Kind::kAtMost:
      return fmt::format("{} <= {}", left, right);
    case Kind::kBroadcasts:
      return fmt::format("{} is 1 or {}", left, right);
  }
  TUNEC_UNREACHABLE("condition {}", static_cast<int>(condition.kind));
}

}  // namespace tunec
