// The text of sizes. The grammar is
//   sum     := product (('+' | '-') product)*
//   product := ['-'] factor (('*' | '/' | 'mod') factor)*
//   factor  := ['-'] integer | name | '(' sum ')' | ('min' | 'max') '(' sum (',' sum)+ ')'
// A division rounds down. A minus sign before a product negates its first factor. A name that is no
// identifier, or is min, max or mod, is in quotes.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ir/size/size_expr.h"
#include "support/lexer.h"

namespace tunec {

/// Returns text such as `3*h + 1`, `(n + 5)/2`, `n mod 10` or `min(n, 512)`. ParseSizeExpr reads it
/// as an equal expression. Returns `?` for an unknown expression. `name` writes a name other than
/// min, max and mod. By default, a name that is no identifier is in quotes.
std::string Print(const SizeExpr& expr,
                  const std::function<std::string(const std::string&)>& name = {});
/// Returns the texts of the expressions, separated by commas.
std::string PrintList(const std::vector<SizeExpr>& exprs);

/// An expression and the names in its text. The expression may lack some, as in `n - n`.
struct ParsedSize {
  SizeExpr size;
  std::set<std::string> names;
};

/// Parses an expression. Errors: a division by 0, parentheses deeper than 64, and an expression
/// beyond the limits of SizeExpr.
Result<ParsedSize> ParseSizeExpr(Lexer& lexer);

}  // namespace tunec
