#pragma once

#include "graph/graph.h"

namespace tunec {

/// A bound of the absolute values of a float value's elements that are numbers, whatever the
/// graph's inputs hold; infinity where none is known. Elements may be NaN beside it. From
/// constants, normalisations and functions of bounded results, through products, sums and moved
/// elements. O(nodes above the value and the elements of their constants).
double LargestMagnitude(const Graph& graph, ValueId value);

}  // namespace tunec
