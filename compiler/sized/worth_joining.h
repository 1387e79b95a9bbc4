// Estimate of how many runs of a dynamic-shape model are worth joining.
#pragma once

#include <cstdint>
#include <span>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"

namespace tunec {

/// Returns the number of runs of the graph that are worth joining to one run, at most 256. This is
/// the least power of two for which the arithmetic of the joined runs takes at least 1.5 times the
/// cost that each single run repeats: launches, and reading weights from the last-level cache. The
/// `shared` inputs are equal in all runs. They are weights as well, but each run packs them.
int64_t WorthJoining(const Graph& graph, std::span<const ValueId> shared,
                     const FusionMachine& machine);

}  // namespace tunec
