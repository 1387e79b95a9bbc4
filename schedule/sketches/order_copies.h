// Storage orders of the copies that a schedule makes.
#pragma once

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

/// Inserts, before the loop steps of a schedule for `compute`, a `storage_order` for each copy of
/// an argument from its compute steps, in their order. These are copies by `pack`, and copies of
/// constants by `widen`. A sketch shapes the loops of `widen` copies of inputs itself. A copy that
/// transposes its argument at run time reads the argument in blocks. Existing steps of this kind
/// are replaced.
void OrderCopies(const Compute& compute, Schedule& schedule);

}  // namespace tunec
