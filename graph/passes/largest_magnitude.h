#pragma once

#include "graph/graph.h"

namespace tunec {

/// Returns a bound of the absolute values of a float value's elements, whatever the graph's inputs
/// contain; infinity if no bound is known. NaN elements are ignored. The bound is derived from
/// constants, normalisations and bounded functions, through products, sums and moved elements.
/// O(nodes above the value and the elements of their constants).
double LargestMagnitude(const Graph& graph, ValueId value);

}  // namespace tunec
