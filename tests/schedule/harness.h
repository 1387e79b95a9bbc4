// Applies schedules to small Computes and judges the loops by the interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/array.h"
#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "ir/target.h"
#include "schedule/apply.h"

namespace tunec::test {

/// A Compute from its text; stops the test program with the error where there is one.
Compute MustParse(std::string_view text);
/// A schedule from its lines, without the first (`lower direct`), which is added.
Schedule MustParseSteps(std::string_view lines);

/// One array for each input and weight, in order. Floats are small multiples of 1/8, so that
/// short sums of products are exact in any order; integers lie within the tensor's range.
std::vector<Array> RandomArguments(const Compute& compute, uint64_t seed);

/// Verifies the nest and the prepacks, runs them and compares with the Compute, tasks in order
/// and backwards (tasks that depend on each other then differ). Empty where all agree, else
/// what is wrong.
std::string Disagreement(const Compute& compute, const ScheduledKernel& kernel,
                         const std::vector<Array>& arguments);

/// As above for a nest whose arguments are the Compute's own.
std::string Disagreement(const Compute& compute, const LoopNest& nest,
                         const std::vector<Array>& arguments);

/// The nest with the iterations of all parallel loops, and the parts of all phases, reversed:
/// another order in which a machine may run the tasks.
LoopNest TasksBackwards(const LoopNest& nest);

/// What ApplySchedule's error says, or how its result disagrees; empty where all is well.
std::string Outcome(const Compute& compute, const Schedule& schedule,
                    ReductionOrder order = ReductionOrder::kAny);

Target Avx2();
Target Avx512();

}  // namespace tunec::test
