// Comparison of graphs, to find out whether a pass changed anything.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// Returns whether both graphs are equal except for names and the bytes of constants.
bool SameStructure(const Graph& a, const Graph& b);

}  // namespace tunec
