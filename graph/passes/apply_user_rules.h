#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Applies PassOptions::user_rules, until none fires.
/// Requires: verified. Ensures: no such rule fires; dead nodes removed. Errors: rules without
/// end, by name and place. O(nodes) a sweep.
Result<Graph> ApplyUserRules(const Graph& graph, const PassOptions& options);

}  // namespace tunec
