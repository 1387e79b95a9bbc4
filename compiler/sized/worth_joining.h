// Estimate of how many runs of a dynamic-shape model are worth joining.
#pragma once

#include <cstdint>
#include <span>

#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"

namespace tunec {

/// Returns the number of runs of the graph that are worth joining to one run, at most 256. This is
/// the least power of two for which the arithmetic of the joined runs makes up for the cost that
/// each single run repeats. It takes at least 1.5 times the seconds of launches and of reading
/// constants from the last-level cache, plus 4 times the seconds of packing weights that are
/// inputs. `shared` has the inputs that are equal in all runs.
int64_t WorthJoining(const Graph& graph, std::span<const ValueId> shared,
                     const FusionMachine& machine);

}  // namespace tunec
