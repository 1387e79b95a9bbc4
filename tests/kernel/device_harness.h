// Functions for tests of kernels. They describe targets with GPUs, run nests and predict times.
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

/// Returns this host with a GPU that has all known properties of `arch`, and no measurements.
Target Gpu(const std::string& arch);

/// Returns this host with an emulated GPU that checks its threads.
Target CheckedGpu(const std::string& arch);

/// Returns the target without features of the GPU, so that sketches use threads, not tensor cores.
Target WithoutTensorCores(Target target);

/// Returns a rounding freedom that allows sums in any order.
RoundingFreedom AnyOrder();
/// Returns a rounding freedom that allows sums in any order and operands rounded to TF32.
RoundingFreedom Tf32();
/// Returns a rounding freedom for sums in any order, with float32 operands in this many bf16
/// splits. Operands of one split are rounded in earlier phases.
RoundingFreedom RoundingWithBf16Parts(int bf16_parts);

Schedule Analytic(const Sketch& sketch);

/// Returns a function that compiles nests for the target and runs them on two threads.
ScheduleChecker::Runner RunnerOn(Target target);
/// Returns a function that runs nests on an emulated GPU with checks of threads.
ScheduleChecker::Runner CheckedEmulation(Target target);

/// Expects that the schedule's loops, verified after each stage, agree with the checker's Compute.
/// The loops run in the interpreter and in the checked emulation of the target.
void ExpectRightOn(const Target& target, const ScheduleChecker& checker, const Schedule& schedule,
                   const RoundingFreedom& rounding);

/// Returns the predicted seconds of all phases, compiled for `target`, or 0 after a failed
/// expectation. Expects that no phase spills more than 8 bytes.
double PredictedSeconds(const Compute& compute, const Schedule& schedule, const Target& target,
                        const RoundingFreedom& rounding);

}  // namespace tunec::test
