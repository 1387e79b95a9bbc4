// The rule matcher. It compares the pattern of a rule with a node and the nodes that the node
// depends on.
#pragma once

#include <optional>

#include "graph/rules/match_site.h"

namespace tunec {

/// Returns the bindings under which the root matches the pattern and every condition holds, if
/// any. The first match counts: alternatives are tried in order, and operands as written before
/// exchanged operands. The two operands of a commutative operator match in either order. An
/// associative operator with more than two operands matches any nesting of the operator. Operands
/// of a term with `..` match only as written. Unless the rule is `shared`, operators of the match
/// other than the root must not have users outside the match.
std::optional<RuleBindings> MatchRule(const Rule& rule, const MatchSite& site);

}  // namespace tunec
