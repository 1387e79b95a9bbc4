// Runs a graph's lowerings in the interpreter, and compares with the reference.
#pragma once

#include <string>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "support/random.h"

namespace tunec {

/// Returns values in [-1, 1], or integers in [0, bound).
Array RandomArray(DataType type, std::vector<int64_t> shape, Random& random, int64_t bound = 4);

/// Returns one random array for each graph input.
std::vector<Array> RandomInputs(const Graph& graph, Random& random, int64_t bound = 4);

/// Runs every group by its lowering number `choice`, or by the last if there are fewer. Fails also
/// if a group's lowerings declare different arguments.
Result<std::vector<Array>> RunLowered(const Graph& graph, const std::vector<Array>& inputs,
                                      FusionMode mode, size_t choice);

/// Returns the largest difference divided by the largest magnitude of `expected`. Pairs of NaN and
/// equal infinities count as 0.
double RelativeError(const Array& actual, const Array& expected);

/// Expects the reference's outputs for every mode and lowering.
void ExpectSameAsReference(const Graph& graph, double tolerance = 2e-5, uint64_t seed = 1);

/// Returns the lowering's text, or the error's.
std::string LoweringText(const Graph& graph, FusionMode mode, size_t group, size_t choice);

}  // namespace tunec
