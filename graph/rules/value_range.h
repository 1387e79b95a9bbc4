// Bounds on the numbers in a value, derived without running anything. They are proofs for rules
// that are wrong for NaN, infinities or signed zeros.
#pragma once

#include <limits>

#include "graph/rules/match_site.h"

namespace tunec {

/// The range of a value: every element is in [low, high], or is NaN if `nan`; -0.0 occurs only if
/// `negative_zero`.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool nan = true;
  bool negative_zero = true;

  bool IsFinite() const;
  bool ContainsZero() const { return low <= 0 && high >= 0; }
};

/// Returns the range of a value, derived from constants, integer types and operators with bounded
/// results, through at most `deepest` operators. Graph inputs may contain anything that their types
/// allow. Visits a bounded number of values.
ValueRange RangeOf(const MatchSite& site, ValueId value, int deepest = 8);

}  // namespace tunec
