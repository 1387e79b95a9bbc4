// The text of expressions inside a Compute or a LoopNest. Differs from Print (expr.h) in that
// the value of a gather's index can be named, so that it can be written in place.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/expr/index_expr.h"

namespace tunec {

/// How the names that an expression holds only by number are written.
struct TextNames {
  std::function<std::string(VarId)> variable;
  std::function<std::string(int)> read;    // the value of a read slot, in an Expr
  std::function<std::string(int)> loaded;  // the same, in an IndexExpr
};

/// `8*i + (j mod 8) - 1`. Written with mod where the sum holds x - m*floor(x/m).
std::string PrintIndex(const IndexExpr& expr, const TextNames& names);
/// `i - 1 >= 0, 5 - j >= 0`
std::string PrintConditions(const std::vector<IndexExpr>& nonnegative, const TextNames& names);
std::string PrintExpr(const Expr& expr, const TextNames& names);

/// A double that parses back to the same bits; shows that it is a float: `2.0`, `-inf`.
std::string PrintDouble(double value);

/// `name`, quoted where it is a word of the text forms or no identifier.
std::string PrintName(const std::string& name);

}  // namespace tunec
