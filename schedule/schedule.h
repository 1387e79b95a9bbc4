// A schedule: a value that lists the steps for one lowering of a group, with a text form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedule/steps/compute_steps.h"
#include "schedule/steps/loop_steps.h"
#include "support/error.h"

namespace tunec {

/// A lowering's name, and its steps. Compute steps rewrite the statements, then loop steps change
/// the statements' loops. The database stores the text: a line such as `lower direct`, and a line
/// for each step.
struct Schedule {
  std::string lowering;
  std::vector<ComputeStep> compute_steps = {};
  std::vector<LoopStep> loop_steps = {};

  void Add(ComputeStep step) { compute_steps.push_back(std::move(step)); }
  void Add(LoopStep step) { loop_steps.push_back(std::move(step)); }
  size_t StepCount() const { return compute_steps.size() + loop_steps.size(); }
  bool operator==(const Schedule&) const = default;
};

/// The version of the language of schedules; part of the database's keys. A migration rewrites the
/// texts of older versions if their meaning has changed (docs/reference/database.md).
inline constexpr int kScheduleVersion = 2;

/// Returns the schedule of the first `count` steps, in the order compute steps, loop steps.
Schedule FirstSteps(const Schedule& schedule, size_t count);

std::string Print(const Schedule& schedule);
/// Parses the text of a schedule. All errors are kParse, with a location in the text. Compute steps
/// must come before all loop steps.
Result<Schedule> ParseSchedule(std::string_view text, std::string_view file_name);

}  // namespace tunec
