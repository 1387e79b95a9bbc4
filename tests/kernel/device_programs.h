// Shared parts of the tests of GPU sketches: products to schedule, descriptions of GPUs, and
// predicted times.
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

/// Returns `text` with names ("$M") replaced by numbers.
std::string Numbered(std::string text, const std::vector<std::pair<std::string, int>>& numbers);

/// Returns C[rows, columns] = relu(A[rows, length] * B[length, columns] + b), in float32.
std::string Product(int rows, int columns, int length);

/// Returns this host with a GPU that has all facts of `arch`, and no measurements.
Target Gpu(const std::string& arch);

/// Returns the target without its features, so that sketches use threads instead of tensor cores.
Target WithoutTensorCores(Target target);

Schedule Analytic(const Sketch& sketch);

/// Returns a runner of nests as the target's machine code, on two threads.
ScheduleChecker::Runner RunnerOn(Target target);
/// Returns a runner of nests on an emulated GPU that checks its threads.
ScheduleChecker::Runner CheckedEmulation(Target target);

/// Expects that the schedule's loops, verified after each stage, agree with the checker's Compute.
/// The loops run in the interpreter and in the checked emulation of the target.
void ExpectRightOn(const Target& target, const ScheduleChecker& checker, const Schedule& schedule,
                   const RoundingFreedom& rounding);

/// Returns the predicted time of all phases, compiled for `target`, or 0 after a failed
/// expectation. Expects that no phase spills more than 8 bytes.
double PredictedSeconds(const Compute& compute, const Schedule& schedule, const Target& target,
                        const RoundingFreedom& rounding);

}  // namespace tunec::test
