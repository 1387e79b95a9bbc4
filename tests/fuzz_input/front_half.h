// Runs a graph through the stages before schedules: passes, fusion, lowering.
#pragma once

#include "graph/graph.h"

namespace tunec::fuzz {

/// Runs the stages. A rejection is accepted. A broken graph or Compute, or one whose text does not
/// read back, is a finding.
void RunFrontHalf(const Graph& graph);

}  // namespace tunec::fuzz
