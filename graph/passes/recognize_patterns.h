#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Finds operators that front ends write as primitives, and makes them one node:
/// gelu (by erf and by tanh), silu, hard_swish, softplus, layer_norm and rms_norm over the last
/// axis, softmax. The numbers in them are compared to 1e-4. Values of the pattern that have
/// other users stay; those without die.
/// Requires: verified, canonicalized (a square is a product). Ensures: no pattern left; dead
/// nodes removed. O(nodes).
Result<Graph> RecognizePatterns(const Graph& graph, const PassOptions& options);

}  // namespace tunec
