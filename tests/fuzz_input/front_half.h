// A function that runs a graph through the stages before schedules (passes, fusion, lowering).
#pragma once

#include "graph/graph.h"

namespace tunec::fuzz {

/// Runs passes, fusion and lowering, which may reject the graph. An invalid graph or Compute, or a
/// Compute's text that does not read back, is a finding. Large graphs and ones with dynamic shapes
/// are only verified.
void RunFrontHalf(const Graph& graph);

}  // namespace tunec::fuzz
