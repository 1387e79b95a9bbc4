#pragma once

#include "graph/passes/rewrite.h"

namespace tunec {

/// Brings equal computations to one form by local algebra: neutral elements, double negation,
/// composed and identity transposes and reshapes, constant powers, transposes into matmul's
/// flags, scalar work moved before transposes and reshapes. Always-safe rules keep every
/// result bit, NaN and the sign of zero included (x + 0.0 is no identity: it turns -0.0
/// into 0.0; x - 0.0 is); the others need FloatRules::kFast.
/// Requires: verified. Ensures: no rule applies; no dead node. O(nodes) a sweep.
Result<Graph> Canonicalize(const Graph& graph, const PassOptions& options);

std::span<const RewriteRule> AlgebraRules();
std::span<const RewriteRule> MovementRules();

}  // namespace tunec
