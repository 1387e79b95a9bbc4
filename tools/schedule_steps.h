// Functions that apply a schedule, step by step or as a whole.
#pragma once

#include <string>
#include <vector>

#include "kernel/loop_pipeline.h"
#include "support/error.h"

namespace tunec {

/// The first steps of a schedule (none, some or all), applied to a Compute.
struct SchedulePrefix {
  Schedule schedule;
  std::string label;  // for display: the last step and its number, a file, or "as written"
  /// Loops after these steps. If these steps alone are illegal, `kernel.rejection` has the reason.
  /// Later steps may remove the reason. For example, `stage` gives each iteration separate storage.
  KernelLoops kernel;
};

/// Returns an entry for the unscheduled Compute and one after each step. If a step cannot be
/// applied, the error's message has the number of the step.
Result<std::vector<SchedulePrefix>> SchedulePrefixes(const Compute& compute,
                                                     const Schedule& schedule,
                                                     const RoundingFreedom& rounding);

/// Returns an entry for the whole schedule.
Result<SchedulePrefix> WholeSchedule(const Compute& compute, const Schedule& schedule,
                                     std::string label, const RoundingFreedom& rounding);

}  // namespace tunec
