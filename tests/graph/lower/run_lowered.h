// Functions that draw inputs, interpret a graph's lowerings and compare results with the reference.
#pragma once

#include <string>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "support/random.h"

namespace tunec {

/// Returns an array of random floats in [-1, 1], integers in [0, bound), or booleans.
Array RandomArray(DataType type, std::vector<int64_t> shape, Random& random, int64_t bound = 4);

/// Returns one random array for each graph input.
std::vector<Array> RandomInputs(const Graph& graph, Random& random, int64_t bound = 4);

/// Interprets lowering number `choice` of every group, or the last if there are fewer. Fails also
/// if a group's lowerings have different arguments, or a Compute's text does not read back.
Result<std::vector<Array>> RunLowered(const Graph& graph, const std::vector<Array>& inputs,
                                      FusionMode mode, size_t choice);

/// Returns the largest difference divided by the largest finite magnitude in `expected`. Two NaN or
/// two equal infinities differ by 0. Other non-finite elements make the result infinite.
double RelativeError(const Array& actual, const Array& expected);

/// Expects that RelativeError of the reference's outputs and those of RunLowered is at most
/// `tolerance`, in both fusion modes and for choices 0 and 1.
void ExpectSameAsReference(const Graph& graph, double tolerance = 2e-5, uint64_t seed = 1);

/// Returns the text of a group's lowering, or the error message.
std::string LoweringText(const Graph& graph, FusionMode mode, size_t group, size_t choice);

}  // namespace tunec
