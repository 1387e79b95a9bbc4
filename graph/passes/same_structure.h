// Detects whether a pass changed a graph.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// Returns whether both graphs are equal except for names and the bytes of constants.
bool SameStructure(const Graph& a, const Graph& b);

}  // namespace tunec
