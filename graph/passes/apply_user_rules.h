#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Applies PassOptions::user_rules until no rule fires. Requires a verified graph. If there are
/// rules, the result has no dead node. Fails if rules still fire after many sweeps or add too many
/// nodes (rewrite.h). O(nodes) per sweep.
Result<Graph> ApplyUserRules(const Graph& graph, const PassOptions& options);

}  // namespace tunec
