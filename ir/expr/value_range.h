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

/// Returns bounds of an expression of a float type. Bounds follow from literals, casts of integers,
/// minima and maxima with a literal, and from casts and roundings (floor, ceil, round, trunc) of an
/// expression with bounds. All other expressions have the bounds -inf and inf. The function follows
/// at most one operand of each node, so its cost is linear.
FloatRange FloatRangeOf(const Expr& expr);

}  // namespace tunec
