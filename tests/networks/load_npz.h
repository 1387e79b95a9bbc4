// Functions that read test data from .npz files, and compare arrays.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"
#include "support/error.h"

namespace tunec {

Result<std::map<std::string, Array>> LoadNpz(const std::string& path);

/// Returns the graph's inputs in the graph's order, or an error that names the first missing input.
Result<std::vector<Array>> InputsByName(const Graph& graph,
                                        const std::map<std::string, Array>& arrays);

/// Returns the largest difference divided by the largest finite magnitude of `expected`, at least
/// 1e-30. Two NaN and two equal infinities are equal. The result is infinite if shapes or other
/// elements that are not finite differ.
double RelativeError(const Array& actual, const Array& expected);

}  // namespace tunec
