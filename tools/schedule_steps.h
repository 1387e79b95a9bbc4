// A schedule looked at step by step.
#pragma once

#include <string>
#include <vector>

#include "kernel/loop_pipeline.h"
#include "support/error.h"

namespace tunec {

/// The first steps of a schedule, or all of them, and what they make of a Compute.
struct SchedulePrefix {
  Schedule schedule;
  std::string label;  // for people: the last step and its number, a file, or "as written"
  /// Its refusal says why these steps alone are not allowed. Later steps may mend it: storage that
  /// two iterations share becomes private when it is staged.
  KernelLoops kernel;
};

/// One entry for the Compute as written and one for each step. Errors: a step that does not fit,
/// by its number.
Result<std::vector<SchedulePrefix>> SchedulePrefixes(const Compute& compute,
                                                     const Schedule& schedule,
                                                     const RoundingFreedom& rounding);

/// The whole schedule.
Result<SchedulePrefix> WholeSchedule(const Compute& compute, const Schedule& schedule,
                                     std::string label, const RoundingFreedom& rounding);

}  // namespace tunec
