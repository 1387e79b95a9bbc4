#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces groups of primitives, as front ends write them, by single operators: gelu, silu,
/// hard_swish, softplus, softmax, layer_norm, rms_norm and others of graph/rules/patterns.rules.
/// The graph must be verified and canonicalized: for example, a square must be a product. In the
/// result, none of these rules fires, and there are no dead nodes. O(nodes) per sweep.
Result<Graph> RecognizePatterns(const Graph& graph, const PassOptions& options);

}  // namespace tunec
