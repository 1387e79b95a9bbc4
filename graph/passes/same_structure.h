// Comparison of graphs, to find out whether a pass changed anything.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// Returns whether both graphs have the same nodes, edges, attributes and layouts, and share the
/// arrays of constants. Names and the types of values are not compared.
bool HaveSameStructure(const Graph& a, const Graph& b);

}  // namespace tunec
