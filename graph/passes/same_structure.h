// Comparison of the structure of graphs, to detect changes by a pass.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// Returns whether both graphs have the same nodes, edges, attributes and layouts, and share the
/// arrays of constants. Names, types of values and nested graphs are not compared.
bool HaveSameStructure(const Graph& a, const Graph& b);

}  // namespace tunec
