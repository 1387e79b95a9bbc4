// Ranges of values' elements, derived without running the graph. Rules that are wrong for NaN,
// infinities or signed zeros use the ranges to prove the absence of such values.
#pragma once

#include <limits>

#include "graph/rules/match_site.h"

namespace tunec {

/// A range of elements. Every element is in [low, high] or NaN. An element can be NaN only if
/// `nan`, and -0.0 only if `negative_zero`.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool nan = true;
  bool negative_zero = true;

  bool IsFinite() const;
  bool ContainsZero() const { return low <= 0 && high >= 0; }
};

/// Returns a range that contains a value's elements. The range is derived from constants, types and
/// operators, through at most `deepest` operators. Graph inputs may have any value of their types.
/// The number of visited values is bounded.
ValueRange RangeOf(const MatchSite& site, ValueId value, int deepest = 8);

}  // namespace tunec
