// How many runs of a sized model are worth one.
#pragma once

#include <cstdint>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"

namespace tunec {

/// How many of the graph's runs are worth joining: the least power of two for which reading the
/// weights and launching kernels does not take longer than the arithmetic.
int64_t WorthJoining(const Graph& graph, const FusionMachine& machine);

}  // namespace tunec
