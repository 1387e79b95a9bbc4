// The rewriter, which applies rules (graph/rules/) to every node until no rule fires.
#pragma once

#include "graph/passes/pass.h"
#include "graph/rules/rule.h"

namespace tunec {

/// Applies the first rule that fires at each node, in sweeps over the graph. A rule sees the
/// replacements of earlier nodes of the sweep. Nodes that a sweep leaves dead are removed. A rule
/// does not fire if it would make a graph output a constant, an input or another output.
/// The cost is a few sweeps: rules are indexed by the operator of their root, and almost every
/// sweep brings the graph closer to its normal form.
/// Errors (kInvalidArgument): rules that never stop changing the graph; the message has the name
/// and position of one such rule.
Result<Graph> ApplyRules(const Graph& graph, const RuleSet& rules, const PassOptions& options);

}  // namespace tunec
