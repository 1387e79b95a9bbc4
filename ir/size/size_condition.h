// Conditions on named sizes. Shape inference assumes them, and a run checks them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/size/prove_sizes.h"
#include "ir/size/size_expr.h"

namespace tunec {

/// A condition between two sizes.
struct SizeCondition {
  enum class Kind : uint8_t {
    kEqual,       // left == right
    kAtMost,      // left <= right
    kBroadcasts,  // left == right or left == 1
  };
  Kind kind = Kind::kEqual;
  SizeExpr left;
  SizeExpr right;
  auto operator<=>(const SizeCondition&) const = default;
};

/// Returns whether a condition of this kind holds between two numbers.
constexpr bool HoldsFor(SizeCondition::Kind kind, int64_t left, int64_t right) {
  if (left == right) return true;
  if (kind == SizeCondition::Kind::kAtMost) return left <= right;
  return kind == SizeCondition::Kind::kBroadcasts && left == 1;
}

/// The truth of a condition: true for all sizes, false for all sizes, or not decided.
enum class Decision : uint8_t { kTrue, kFalse, kOpen };

/// Decides a condition for sizes in these ranges. A condition on an unknown size is false.
Decision Decide(const SizeCondition& condition, const SizeRanges& ranges);

/// Returns whether the condition holds at these sizes, or nullopt if a side has no value.
std::optional<bool> Holds(const SizeCondition& condition, const SizeValues& sizes);

/// Returns text such as `n == 2*m`, `3 <= h + 2` or `n is 1 or m`. An equation has no common terms
/// and factors: `6*n == 12*(n/2)` is `n mod 2 == 0`.
std::string Print(const SizeCondition& condition);

}  // namespace tunec
