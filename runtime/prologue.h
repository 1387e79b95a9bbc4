// The prologue of a plan: what is packed and where it lies.
#pragma once

#include "runtime/executable_plan.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Runs the prologue. Afterwards exactly the constants that run steps name have data, aligned as
/// they want, and there is no prologue any more. A prologue kernel and a constant are dropped as
/// soon as no later step needs them, so that packing all weights of a model holds one of them
/// twice, not all. With plan.shared, what other executables hold is taken from there, and only the
/// rest is made. Requires: Verify(plan), no refusal. kResourceLimit without memory.
Status RunPrologue(ExecutablePlan& plan, ThreadPool& pool);

}  // namespace tunec
