// The rewriter, which applies rules (graph/rules/) to the nodes of a graph until no rule fires.
#pragma once

#include "graph/passes/pass.h"
#include "graph/rules/rule.h"

namespace tunec {

/// Applies the first rule that fires at each node, in sweeps over the graph. A rule is matched
/// against the replacements of earlier nodes of the sweep. Dead nodes are removed. A rule
/// does not fire if it would make a graph output a constant, an input or another output. A sweep is
/// O(nodes), because rules are indexed by the operator of their root. Usually a few sweeps suffice.
/// Fails with kInvalidArgument if rules fire in each of 64 sweeps, or if a sweep results in more
/// than 8 times the initial number of live nodes plus 1000. The message has the name and position
/// of the last fired rule.
Result<Graph> ApplyRules(const Graph& graph, const RuleSet& rules, const PassOptions& options);

}  // namespace tunec
