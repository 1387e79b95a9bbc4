// Runs a graph through its lowerings, in the interpreter, and compares with the reference.
#pragma once

#include <string>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "support/random.h"

namespace tunec {

/// Values in [-1, 1]; integers in [0, bound).
Array RandomArray(DataType type, std::vector<int64_t> shape, Random& random, int64_t bound = 4);

/// One random array for each graph input.
std::vector<Array> RandomInputs(const Graph& graph, Random& random, int64_t bound = 4);

/// Every group by its lowering number `choice` (the last where there are fewer). An error, too,
/// where a group's lowerings declare different arguments.
Result<std::vector<Array>> RunLowered(const Graph& graph, const std::vector<Array>& inputs,
                                      FusionMode mode, size_t choice);

/// The largest difference over the largest magnitude of `expected`; 0 where both are NaN or
/// the same infinity.
double RelativeError(const Array& actual, const Array& expected);

/// Expects every mode and lowering to give the reference's outputs.
void ExpectSameAsReference(const Graph& graph, double tolerance = 2e-5, uint64_t seed = 1);

/// The lowering's text, or the error's.
std::string LoweringText(const Graph& graph, FusionMode mode, size_t group, size_t choice);

}  // namespace tunec
