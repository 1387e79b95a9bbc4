// How many runs of a sized model are worth one.
#pragma once

#include <cstdint>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"

namespace tunec {

/// How many of the graph's runs are worth joining: the least power of two whose arithmetic takes
/// half as long again as what each run costs again, launches and weights from the last cache.
int64_t WorthJoining(const Graph& graph, const FusionMachine& machine);

}  // namespace tunec
