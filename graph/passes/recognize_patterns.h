#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Replaces groups of primitives, as front ends write them, by single operators: gelu, silu,
/// hard_swish, softplus, softmax, layer_norm, rms_norm and others of graph/rules/patterns.rules.
/// Requires: verified, canonicalized (a square is a product). Ensures: none of these rules fires;
/// dead nodes removed. O(nodes) per sweep.
Result<Graph> RecognizePatterns(const Graph& graph, const PassOptions& options);

}  // namespace tunec
