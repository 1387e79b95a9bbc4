// Loops from a schedule tree.
#pragma once

#include "ir/loop_nest.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// The loops of the tree. Every condition is enforced: by a bound, by an If around all it
/// concerns, or proven away by the ranges of the loops. No legality is checked here.
/// `contraction` becomes the nest's: what the accuracy contract allows.
Result<LoopNest> GenerateLoops(const ScheduleTree& tree, Contraction contraction);

}  // namespace tunec
