#include "tools/schedule_steps.h"

#include <utility>

#include "schedule/steps/step_text.h"

namespace tunec {
namespace {

// Removes the step's first words from the start of a message, because the caller prepends the step.
std::string WithoutStep(const std::string& message, const std::string& step) {
  const size_t colon = message.find(": ");
  const bool repeats = colon != std::string::npos && step.starts_with(message.substr(0, colon));
  return repeats ? message.substr(colon + 2) : message;
}

std::string LastStep(const Schedule& schedule) {
  return schedule.loop_steps.empty() ? Print(schedule.compute_steps.back())
                                     : Print(schedule.loop_steps.back());
}

}  // namespace

Result<SchedulePrefix> WholeSchedule(const Compute& compute, const Schedule& schedule,
                                     std::string label, const RoundingFreedom& rounding) {
  SchedulePrefix prefix{.schedule = schedule, .label = std::move(label)};
  TUNEC_ASSIGN(
      prefix.kernel,
      RunLoopPipeline(compute, schedule, {.rounding = rounding, .legality = Legality::kReport}));
  return prefix;
}

Result<std::vector<SchedulePrefix>> SchedulePrefixes(const Compute& compute,
                                                     const Schedule& schedule,
                                                     const RoundingFreedom& rounding) {
  std::vector<SchedulePrefix> prefixes;
  for (size_t count = 0; count <= schedule.StepCount(); ++count) {
    const Schedule first = FirstSteps(schedule, count);
    const std::string step = count == 0 ? "" : LastStep(first);
    std::string label = count == 0 ? "as written" : fmt::format("{}: {}", count, step);
    Result<SchedulePrefix> prefix = WholeSchedule(compute, first, label, rounding);
    if (!prefix) {
      Error error = prefix.error();
      if (count > 0)
        error.message = fmt::format("step {}: {}", label, WithoutStep(error.message, step));
      return std::unexpected(std::move(error));
    }
    prefixes.push_back(std::move(*prefix));
  }
  return prefixes;
}

}  // namespace tunec
