// The rewriter: applies rules (graph/rules/) to every node until none fires.
#pragma once

#include "graph/passes/pass.h"
#include "graph/rules/rule.h"

namespace tunec {

/// Applies the first rule that fires at each node, in sweeps over the graph. A rule sees the
/// results of earlier nodes of the sweep. Nodes that a sweep makes dead are removed. A rule does
/// not fire if it would turn a graph output into a constant, an input or another output.
///
/// The cost is that of a few sweeps. Rules are indexed by the operator of their root, and nearly
/// every sweep brings the graph closer to normal form. Errors: kInvalidArgument for rules that
/// never stop changing the graph, with the name and location of one rule.
Result<Graph> ApplyRules(const Graph& graph, const RuleSet& rules, const PassOptions& options);

}  // namespace tunec
