// The rewriter, which applies rules (graph/rules/) to every node until no rule fires.
#pragma once

#include "graph/passes/pass.h"
#include "graph/rules/rule.h"

namespace tunec {

/// Applies the first rule that fires at each node, in sweeps over the graph. A rule sees the
/// replacements of earlier nodes of the sweep. Nodes that a sweep leaves dead are removed. A rule
/// does not fire if it would make a graph output a constant, an input or another output. A sweep is
/// O(nodes), because rules are indexed by the operator of their root. Usually a few sweeps suffice.
/// Errors (kInvalidArgument): rules still fire after 64 sweeps, or the graph has more than 8 times
/// the original nodes plus 1000. The message has the name and position of the last fired rule.
Result<Graph> ApplyRules(const Graph& graph, const RuleSet& rules, const PassOptions& options);

}  // namespace tunec
