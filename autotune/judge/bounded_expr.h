// Running error analysis of expressions: beside the float64 value of an expression, another one
// that bounds how far the value may be off in any legal evaluation in the expression's own types.
// Rounding is counted operation by operation; what a function or a step (round, floor, a cast to
// an integer, a comparison) makes of the error of its operands follows from the function.
#pragma once

#include <functional>

#include "ir/expr/expr.h"

namespace tunec {

/// A value and its error. A bool's error is 1 where it may be either, else 0.
struct Bounded {
  Expr value;            // floats as f64, integers and bools as they are
  Expr error;            // f64, not negative; the literal 0: the value is exact
  bool whole = false;    // an integer of whatever type: sums and products of such are exact
  bool stepped = false;  // part of the error is that of a step: a little more or less in front of
                         // it is much more or less behind it
  bool IsExact() const { return error.IsConstant(0.0); }
};

/// The value of an expression and its error, from those of its reads, accumulators and incoming
/// values, which `leaf` is asked for.
Bounded BoundOf(const Expr& expr, const std::function<Bounded(const Expr&)>& leaf);

/// `error` with `relative * |value|` added; infinite values have no rounding error.
Expr AddRelative(const Expr& error, const Expr& value, double relative);

}  // namespace tunec
