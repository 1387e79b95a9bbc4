// Ranges of sizes, and proofs of equations and inequalities between sizes. A proof holds for all
// sizes in their ranges for which both sides have a value. A false result means "not proved".
#pragma once

#include <map>
#include <string>

#include "ir/expr/index_expr.h"
#include "ir/size/size_expr.h"

namespace tunec {

/// The values of named sizes. A name without an entry has the range [0, kUnbounded].
using SizeRanges = std::map<std::string, Interval>;

/// Returns an interval that contains every value of the expression. A bound of kUnbounded or
/// -kUnbounded means that no bound is known.
Interval RangeOf(const SizeExpr& expr, const SizeRanges& ranges);

/// Returns true if a <= b is proved in at most so many steps. Returns false for unknown operands.
bool ProveAtMost(const SizeExpr& a, const SizeExpr& b, const SizeRanges& ranges, int steps = 64);
/// Returns true if a == b is proved.
bool ProveEqual(const SizeExpr& a, const SizeExpr& b, const SizeRanges& ranges);

}  // namespace tunec
