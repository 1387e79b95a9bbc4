// Test data: arrays of a .npz by name, and how far two arrays are apart.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"
#include "support/error.h"

namespace tunec {

Result<std::map<std::string, Array>> LoadNpz(const std::string& path);

/// The graph's inputs in its order, or an error that names the missing one.
Result<std::vector<Array>> InputsByName(const Graph& graph,
                                        const std::map<std::string, Array>& arrays);

/// Largest difference over the largest magnitude of `expected`; infinite when shapes differ or
/// one is NaN where the other is not. Equal infinities count as equal.
double RelativeError(const Array& actual, const Array& expected);

}  // namespace tunec
