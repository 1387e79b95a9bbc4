// The one rewriter: rules (graph/rules/) applied to every node until none fires.
#pragma once

#include "graph/passes/pass.h"
#include "graph/rules/rule.h"

namespace tunec {

/// Applies the first rule that fires at each node, in sweeps over the graph; rules see what
/// earlier nodes of the sweep became. What a sweep leaves dead is removed. A rule does not fire
/// where it would make a graph output a constant, an input or another output.
/// The cost is that of a few sweeps: rules are found by the operator of their root, and every
/// sweep but the last few changes the graph towards its normal form.
/// Errors (kInvalidArgument): rules that go on changing the graph, naming one and its place.
Result<Graph> ApplyRules(const Graph& graph, const RuleSet& rules, const PassOptions& options);

}  // namespace tunec
