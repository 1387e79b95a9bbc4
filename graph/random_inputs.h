// Inputs to run a graph on where nobody gave any.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"

namespace tunec {

/// Seeded inputs for `graph`, one per input: floats uniform in [-1, 1), booleans even; integers
/// below the smallest axis that they, or views and casts of them, index in a gather, else 0 or 1.
/// An input's values depend on its name, not on the others. Requires: fixed
/// shapes. kResourceLimit without memory.
Result<std::vector<Array>> RandomInputs(const Graph& graph, uint64_t seed);

}  // namespace tunec
