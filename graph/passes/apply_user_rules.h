#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Applies PassOptions::user_rules until no rule fires.
/// Requires: verified. Ensures: no user rule fires; if there are rules, there are no dead nodes.
/// Errors: rules that never stop firing, with the rule's name and position. O(nodes) per sweep.
Result<Graph> ApplyUserRules(const Graph& graph, const PassOptions& options);

}  // namespace tunec
