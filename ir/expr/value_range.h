// What the form of an expression says about its values.
#pragma once

#include <limits>

#include "ir/expr/expr.h"

namespace tunec {

/// A value is in [lo, hi], or NaN where it may be.
struct FloatRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  bool may_be_nan = true;
  bool operator==(const FloatRange&) const = default;
};

/// Of an expression of a float type: bounds from literals, integers that were cast, minima and
/// maxima with literals, and roundings of these. Follows one operand, so the cost is linear.
FloatRange FloatRangeOf(const Expr& expr);

}  // namespace tunec
