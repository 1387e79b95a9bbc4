// What is known about the numbers in a value without running anything: the proofs that rules
// which are wrong for NaN, infinities or signed zeros ask for.
#pragma once

#include <limits>

#include "graph/rules/match_site.h"

namespace tunec {

/// Every element is a NaN, if `nan`, or lies in [low, high]; -0.0 only if `negative_zero`.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool nan = true;
  bool negative_zero = true;

  bool IsFinite() const;
  bool ContainsZero() const { return low <= 0 && high >= 0; }
};

/// From constants, integer types and operators of bounded results, so many operators deep. Graph
/// inputs may hold anything that their types can. Looks at a bounded number of values.
ValueRange RangeOf(const MatchSite& site, ValueId value, int deepest = 8);

}  // namespace tunec
