// What the tests of sketches for GPUs share: products to schedule, GPUs that are only described,
// and the time that is predicted for a schedule.
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

/// `text` with numbers in the place of names ("$M").
std::string Numbered(std::string text, const std::vector<std::pair<std::string, int>>& numbers);

/// C[rows, columns] = relu(A[rows, length] * B[length, columns] + b), in float32.
std::string Product(int rows, int columns, int length);

/// This host with a GPU beside it: all facts of `arch`, none measured.
Target Gpu(const std::string& arch);

/// The same without tensor cores, for schedules of threads that run on it, too.
Target WithoutTensorCores(Target target);

Schedule Analytic(const Sketch& sketch);

/// Runs nests as the target's machine code, on two threads.
Judge::Runner RunnerOn(Target target);
/// The same by an emulated GPU that checks what its threads do.
Judge::Runner CheckedEmulation(Target target);

/// The schedule's loops, verified after each stage, agree with the judge's Compute, as they are
/// interpreted and as an emulation of the target runs them.
void ExpectRightOn(const Target& target, const Judge& judge, const Schedule& schedule,
                   const RoundingFreedom& rounding);

/// Of all phases, compiled for `target`; 0 after a failed expectation. No phase may spill.
double PredictedSeconds(const Compute& compute, const Schedule& schedule, const Target& target,
                        const RoundingFreedom& rounding);

}  // namespace tunec::test
