// The `storage_order` steps for the copies of arguments that a schedule makes.
#pragma once

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

/// Inserts a `storage_order` for each of these copies, before the loop steps and in the copies'
/// order: copies of arguments by `pack`, packed constants that `precision` rounds, and copies of
/// constants by `widen`. For a copy of an input by `widen`, the sketch adds the loop steps itself.
/// A copy that transposes its argument at run time may read in blocks. Removes all existing
/// `storage_order` steps, and the steps that split, isolate or unroll loops of their statements.
void OrderCopies(const Compute& compute, Schedule& schedule);

}  // namespace tunec
