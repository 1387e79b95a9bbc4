// A graph through everything that compiling does before schedules: passes, fusion, lowering.
#pragma once

#include "graph/graph.h"

namespace tunec::fuzz {

/// A refusal is in order; a broken graph or Compute, or one whose text does not read back, is a
/// finding.
void RunFrontHalf(const Graph& graph);

}  // namespace tunec::fuzz
