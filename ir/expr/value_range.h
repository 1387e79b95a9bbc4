// Bounds of values that follow from the form of an expression.
#pragma once

#include <limits>

#include "ir/expr/expr.h"

namespace tunec {

/// A range of float values: a value is in [lo, hi], or NaN if `may_be_nan`.
struct FloatRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  bool may_be_nan = true;
  bool operator==(const FloatRange&) const = default;
};

/// Returns bounds of an expression of a float type. Literals, casts of integers, minima and maxima
/// with literals, and roundings of these give bounds. Follows one operand only, so the cost is
/// linear.
FloatRange FloatRangeOf(const Expr& expr);

}  // namespace tunec
