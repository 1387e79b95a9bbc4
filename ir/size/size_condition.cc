#include "ir/size/size_condition.h"

#include <fmt/format.h>

#include "ir/size/size_text.h"
#include "support/check.h"

namespace tunec {
namespace {

using Kind = SizeCondition::Kind;

bool HoldsFor(Kind kind, int64_t left, int64_t right) {
  switch (kind) {
    case Kind::kEqual:
      return left == right;
    case Kind::kAtMost:
      return left <= right;
    case Kind::kBroadcasts:
      return left == right || left == 1;
  }
  TUNEC_UNREACHABLE("condition {}", static_cast<int>(kind));
}

bool IsLess(const SizeExpr& a, const SizeExpr& b, const SizeRanges& ranges) {
  return ProveAtMost(a + 1, b, ranges);
}

Decision DecideEqual(const SizeExpr& left, const SizeExpr& right, const SizeRanges& ranges) {
  if (ProveEqual(left, right, ranges)) return Decision::kTrue;
  const bool differ = IsLess(left, right, ranges) || IsLess(right, left, ranges);
  return differ ? Decision::kFalse : Decision::kOpen;
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
      return fmt::format("{} == {}", left, right);
    case Kind::kAtMost:
      return fmt::format("{} <= {}", left, right);
    case Kind::kBroadcasts:
      return fmt::format("{} is 1 or {}", left, right);
  }
  TUNEC_UNREACHABLE("condition {}", static_cast<int>(condition.kind));
}

}  // namespace tunec
