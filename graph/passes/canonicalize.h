#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Brings equal computations to one form by local algebra. Examples are neutral elements, inverse
/// functions, composed transposes and reshapes, transposes merged into matmul's flags, common
/// factors, and scalar work moved before data movement. The rules are in graph/rules/algebra.rules
/// and movement.rules.
/// Without FloatRules::kFast every result has the same bits where it is NaN, infinite or zero. For
/// example, x + 0.0 is not an identity, because it turns -0.0 into 0.0; x - 0.0 is an identity. A
/// rule that would change such a result must prove that the result does not occur.
/// Requires: verified. Ensures: no such rule fires; no dead node. O(nodes) per sweep.
Result<Graph> Canonicalize(const Graph& graph, const PassOptions& options);

}  // namespace tunec
