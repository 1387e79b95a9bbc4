// The one matcher: subgraph isomorphism between a rule's pattern and the graph above a node.
#pragma once

#include <optional>

#include "graph/rules/match_site.h"

namespace tunec {

/// The bindings under which the root is made as the pattern says and every condition holds:
/// the first in the order of the pattern's alternatives, then of operands as written, then
/// exchanged. Operands of commutative operators match in any order; an operator with more
/// operands than two matches any nesting of it. Unless the rule is `shared`, a node inside the
/// match, or an operator of such a chain, has no users outside of it.
/// The cost is bounded by the pattern, not by the graph.
std::optional<RuleBindings> MatchRule(const Rule& rule, const MatchSite& site);

}  // namespace tunec
