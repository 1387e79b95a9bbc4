// The `storage_order` steps for the copies of arguments that a schedule makes.
#pragma once

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

/// Inserts a `storage_order` for each copy of an argument that the compute steps of the schedule
/// make, before the loop steps and in the order of the copies. These are the copies by `pack`, the
/// packed constants that `precision` rounds, and the copies of constants by `widen`. For a copy by
/// `widen` of an input, the sketch adds the loop steps itself. A copy that transposes its argument
/// at run time reads the argument in blocks. All existing `storage_order` steps are replaced.
void OrderCopies(const Compute& compute, Schedule& schedule);

}  // namespace tunec
