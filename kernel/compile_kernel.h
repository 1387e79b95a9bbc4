// One path from a candidate to a kernel: the tuner, the product and the command take it, so that
// what was measured is what runs.
#pragma once

#include <functional>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "ir/target.h"
#include "kernel/compiled_kernel.h"
#include "schedule/apply.h"
#include "schedule/step.h"
#include "support/error.h"

namespace tunec {

struct KernelOptions {
  Target target;
  Arithmetic arithmetic = ReductionOrder::kAny;  // what the accuracy contract leaves to a schedule
  /// Tests only: changes the kernel's loops after their legality was proven, to see that a check
  /// of the results catches it. May be empty.
  std::function<void(LoopNest&)> plant_fault = {};
};

/// Applies the schedule to the statements, proves the result legal and compiles it, and its
/// prepacks. Errors: of ApplySchedule and CompileObject.
Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options);

}  // namespace tunec
