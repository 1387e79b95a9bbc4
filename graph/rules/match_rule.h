// The matcher: finds a rule's pattern as a subgraph of the graph above a node.
#pragma once

#include <optional>

#include "graph/rules/match_site.h"

namespace tunec {

/// Returns the bindings for which the root matches the pattern and every condition is true. The
/// first match wins: pattern alternatives in order, then operands as written, then exchanged.
/// Operands of commutative operators match in any order. An operator with more than two operands
/// matches any nesting of it. Unless the rule is `shared`, nodes inside the match and operators of
/// such a chain must have no users outside. The cost is bounded by the pattern, not by the graph.
std::optional<RuleBindings> MatchRule(const Rule& rule, const MatchSite& site);

}  // namespace tunec
