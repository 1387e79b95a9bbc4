// The run of a plan's weight preprocessing. An example of this preprocessing is packing.
#pragma once

#include "runtime/executable_plan.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Runs the preprocessing and removes it from the plan. Afterwards exactly the constants that run
/// steps name have data, with the required alignment. A preprocessing kernel is freed after its
/// step. A constant that no run step names is released after its last preprocessing step. With
/// plan.shared and without a device, constants that other executables have are reused, and steps
/// that are then unnecessary are not run. Requires: Verify(plan), no rejection. Fails with
/// kResourceLimit without memory.
Status PreprocessWeights(ExecutablePlan& plan, ThreadPool& pool);

}  // namespace tunec
