// Functions for tests of kernels. Some describe targets with GPUs, run nests or predict times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "schedule/schedule.h"
#include "schedule/sketch.h"
#include "tests/schedule/harness.h"

namespace tunec::test {

/// Returns this host with the GPU that CudaAccelerator returns for `arch`.
Target Gpu(const std::string& arch);

/// Returns this host with an emulated GPU of `arch` in checked mode (jit/cuda/arch.h).
Target CheckedGpu(const std::string& arch);

/// Returns the target without features of the GPU, so that sketches use threads, not tensor cores.
Target WithoutTensorCores(Target target);

/// Returns a rounding freedom that allows sums in any order.
RoundingFreedom AnyOrder();
/// Returns a rounding freedom that allows sums in any order and operands rounded to TF32.
RoundingFreedom Tf32();
/// Returns a rounding freedom for sums in any order, with float32 operands in at least this many
/// bfloat16 parts.
RoundingFreedom RoundingWithBf16Parts(int bf16_parts);

Schedule Analytic(const Sketch& sketch);

/// Returns a function that compiles nests for the target, and runs them with two host threads.
ScheduleChecker::Runner RunnerOn(Target target);
/// Returns a function that runs nests on the target's GPU, emulated in checked mode.
ScheduleChecker::Runner CheckedEmulation(Target target);

/// Expects that the schedule's loops, verified after each stage, agree with the checker's Compute.
/// The loops run in the interpreter and in the checked emulation of the target.
void ExpectRightOn(const Target& target, const ScheduleChecker& checker, const Schedule& schedule,
                   const RoundingFreedom& rounding);

/// Returns the predicted seconds of all phases together, compiled for `target`. Returns 0 if the
/// compilation or prediction fails. Expects that no phase spills more than 8 bytes per thread.
double PredictedSeconds(const Compute& compute, const Schedule& schedule, const Target& target,
                        const RoundingFreedom& rounding);

}  // namespace tunec::test
