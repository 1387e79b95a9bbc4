#pragma once

#include "graph/graph.h"

namespace tunec {

/// Returns a bound of the absolute values of a float value's elements, for all possible graph
/// inputs. Returns infinity if no bound is found. Elements may also be NaN, which the bound does
/// not cover. The bound follows from constants, normalisations and bounded functions, through
/// products, sums and data movement. O(nodes above the value and the elements of their constants).
double LargestMagnitude(const Graph& graph, ValueId value);

}  // namespace tunec
