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

/// Of all phases, compiled for `target`; 0 after a failed expectation. No phase may spill.
double PredictedSeconds(const Compute& compute, const Schedule& schedule, const Target& target,
                        const RoundingFreedom& rounding);

}  // namespace tunec::test
