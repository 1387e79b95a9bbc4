// The run of a plan's weight preprocessing. Its steps run once; an example is packing of weights.
#pragma once

#include "runtime/executable_plan.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Runs the preprocessing and removes it from the plan. Afterwards exactly the constants that run
/// steps name have data, with the required alignment. A preprocessing kernel and a constant are
/// freed after the last step that needs them. So while all weights of a model are packed, only one
/// weight at a time is in memory twice. With plan.shared and without a device, constants that other
/// executables have are reused, and only missing constants are made. Requires: Verify(plan), no
/// rejection. Fails with kResourceLimit without memory.
Status PreprocessWeights(ExecutablePlan& plan, ThreadPool& pool);

}  // namespace tunec
