#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Brings equal computations to one form by local algebra: neutral elements, inverse functions,
/// composed transposes and reshapes, transposes into matmul's flags, common factors, scalar work
/// before movement. The rules are graph/rules/algebra.rules and movement.rules. Without
/// FloatRules::kFast, results that are NaN, infinite or zero keep their bits, unless the rule
/// proves that no such results occur. For example, x + 0.0 is not an identity, because it turns
/// -0.0 into 0.0; x - 0.0 is one. Requires: verified. Ensures: no rule fires; no dead node.
/// O(nodes) per sweep.
Result<Graph> Canonicalize(const Graph& graph, const PassOptions& options);

}  // namespace tunec
