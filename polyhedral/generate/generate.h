// The generation of loops from a schedule tree.
#pragma once

#include "ir/loop_nest.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// Returns the loops of the tree. Every condition is enforced by a bound or by an If, or is proven
/// by the ranges of the loops. Legality is not checked here. `contraction` is the rounding of
/// products in sums that the accuracy contract allows; it is copied to the nest.
Result<LoopNest> GenerateLoops(const ScheduleTree& tree, Contraction contraction);

}  // namespace tunec
