#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Brings equal computations to one form by local algebra: neutral elements, inverse functions,
/// composed transposes and reshapes, transposes into matmul's flags, common factors, scalar work
/// before movement. What it does is the text of graph/rules/algebra.rules and movement.rules.
/// Without FloatRules::kFast every result keeps its bits where it is NaN, infinite or zero
/// (x + 0.0 is no identity: it turns -0.0 into 0.0; x - 0.0 is), unless the rule proves that
/// there are none.
/// Requires: verified. Ensures: no rule fires; no dead node. O(nodes) a sweep.
Result<Graph> Canonicalize(const Graph& graph, const PassOptions& options);

}  // namespace tunec
