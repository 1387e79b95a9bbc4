// Running error analysis of expressions. The value of an expression is computed in float64. Another
// expression bounds the distance of this value from the value of any legal evaluation in the
// expression's own types. An operation that rounds adds its rounding error. A function or a step
// (round, floor, a cast to an integer, a comparison) changes the error of its operands.
#pragma once

#include <functional>

#include "ir/expr/expr.h"

namespace tunec {

/// A value and its error. The error of a bool is 1 if legal evaluations may differ, else 0.
struct BoundedValue {
  Expr value;            // floats as f64, integers and bools unchanged
  Expr error;            // f64, not negative; the literal 0: exact
  bool whole = false;    // a whole number of any type; sums and products of these are exact
  bool stepped = false;  // part of the error is from a step, which amplifies small errors
  bool IsExact() const { return error.IsConstant(0.0); }
};

/// Returns the value of an expression and its error. `leaf` returns the value and error of reads,
/// accumulators and incoming values.
BoundedValue BoundOf(const Expr& expr, const std::function<BoundedValue(const Expr&)>& leaf);

/// Returns `error + relative * |value|`. For an infinite value the second summand is 0.
Expr AddRelative(const Expr& error, const Expr& value, double relative);

}  // namespace tunec
