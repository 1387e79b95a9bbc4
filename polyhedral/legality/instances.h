// A check that a tree's loops run every instance exactly once.
#pragma once

#include "polyhedral/schedule_tree.h"
#include "support/error.h"

struct isl_ctx;

namespace tunec {

/// Checks each loop's value for each instance: it must be within the loop's extent, and the inverse
/// must map the values back to the instance. The generated loops then run each instance exactly
/// once. Fails with kIllegalSchedule, naming the statement and the loop or iterator. Intervals
/// decide first, and isl decides the rest. Fails with kResourceLimit at the quota of `ctx`.
Status CheckInstances(const ScheduleTree& tree, isl_ctx* ctx);

}  // namespace tunec
