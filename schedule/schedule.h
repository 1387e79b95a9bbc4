// A schedule: the steps that are applied to one lowering of a group, as a value with a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedule/steps/compute_steps.h"
#include "schedule/steps/loop_steps.h"
#include "support/error.h"

namespace tunec {

/// First the statements are rewritten, then their loops are shaped. Its text is what the database
/// keeps: `lower direct` and a line for each step.
struct Schedule {
  std::string lowering;
  std::vector<ComputeStep> compute_steps = {};
  std::vector<LoopStep> loop_steps = {};

  void Add(ComputeStep step) { compute_steps.push_back(std::move(step)); }
  void Add(LoopStep step) { loop_steps.push_back(std::move(step)); }
  size_t StepCount() const { return compute_steps.size() + loop_steps.size(); }
  bool operator==(const Schedule&) const = default;
};

/// The version of the language; part of the database's keys. Texts of older versions that mean
/// something else now are rewritten by a migration (docs/reference/database.md).
inline constexpr int kScheduleVersion = 2;

/// The first `count` steps alone.
Schedule FirstSteps(const Schedule& schedule, size_t count);

std::string Print(const Schedule& schedule);
/// kParse at the word that is wrong; a step that rewrites statements comes before all others.
Result<Schedule> ParseSchedule(std::string_view text, std::string_view file_name);

}  // namespace tunec
