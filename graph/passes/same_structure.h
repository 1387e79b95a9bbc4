// Whether a pass changed anything.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// Whether both graphs are the same but for names and the bytes of constants.
bool SameStructure(const Graph& a, const Graph& b);

}  // namespace tunec
