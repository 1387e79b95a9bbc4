// Printers of expressions inside a Compute or a LoopNest. Unlike Print (expr.h), these functions
// can write a loaded value in an index as a read instead of a slot.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/expr/index_expr.h"

namespace tunec {

/// Functions that return the names of an expression's variables and read slots.
struct TextNames {
  std::function<std::string(VarId)> variable;
  std::function<std::string(int)> read;    // name of a read slot's value in an Expr
  std::function<std::string(int)> loaded;  // name of a read slot's value in an IndexExpr
};

/// Returns text such as `8*i + (j mod 8) - 1`. Writes x - m*floor(x/m) in a sum as x mod m.
std::string PrintIndex(const IndexExpr& expr, const TextNames& names);
/// Returns the text of conditions, such as `i - 1 >= 0, 5 - j >= 0`.
std::string PrintConditions(const std::vector<IndexExpr>& nonnegative, const TextNames& names);
std::string PrintExpr(const Expr& expr, const TextNames& names);

/// Returns a text such as `2.0` or `-inf`, which is visibly a float. The text parses back to the
/// same bits, except that every NaN is `nan`, without its sign and payload.
std::string PrintDouble(double value);

/// Returns `name`, in quotes if it is a reserved word of the text forms or not an identifier.
std::string PrintName(const std::string& name);

}  // namespace tunec
