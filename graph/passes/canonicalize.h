#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Brings equal computations to one form by local algebra. Examples are neutral elements, inverse
/// functions, composed transposes and reshapes, transposes merged into matmul's flags, common
/// factors, and scalar work moved before data movement. The rules are in graph/rules/algebra.rules
/// and movement.rules.
/// Without FloatRules::kFast no rule may change a NaN, an infinity or the sign of a zero, unless a
/// proof shows that none occurs. For example, x - 0.0 becomes x. But x + 0.0 becomes x only if x is
/// never -0.0, because -0.0 + 0.0 is 0.0.
/// Requires a verified graph. No rule fires in the result. It has no dead node. O(nodes) per sweep.
Result<Graph> Canonicalize(const Graph& graph, const PassOptions& options);

}  // namespace tunec
