// Whether a tree's loops reach every instance.
#pragma once

#include "polyhedral/schedule_tree.h"
#include "support/error.h"

struct isl_ctx;

namespace tunec {

/// ok, or kIllegalSchedule naming the statement and loop: each loop's value for each instance
/// lies within the loop's extent, and the inverse takes the values back to the instance. The
/// generated loops then run each instance exactly once. Intervals decide; isl where they
/// can't, within `ctx`'s quota (kResourceLimit).
Status CheckInstances(const ScheduleTree& tree, isl_ctx* ctx);

}  // namespace tunec
