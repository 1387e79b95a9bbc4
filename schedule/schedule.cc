#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "schedule/steps/step_text.h"
#include "schedule/steps/words.h"

namespace tunec {
namespace {

// The lowering of a text that does not name a lowering. Every group has this lowering.
constexpr std::string_view kUsualLowering = "direct";

Status AddParsed(Schedule& schedule, AnyStep step, SourceLocation line) {
  if (auto* loop = std::get_if<LoopStep>(&step)) {
    schedule.Add(std::move(*loop));
    return {};
  }
  auto& compute = std::get<ComputeStep>(step);
  if (!schedule.loop_steps.empty()) {
    return FailAt(std::move(line), ErrorCode::kParse,
                  "'{}' rewrites statements and must come before the loop steps", Print(compute));
  }
  schedule.Add(std::move(compute));
  return {};
}

}  // namespace

Schedule FirstSteps(const Schedule& schedule, size_t count) {
  Schedule first = schedule;
  const size_t rewriting = std::min(count, schedule.compute_steps.size());
  first.compute_steps.resize(rewriting);
  first.loop_steps.resize(std::min(count - rewriting, schedule.loop_steps.size()));
  return first;
}

std::string Print(const Schedule& schedule) {
  std::string text = fmt::format("lower {}\n", schedule.lowering);
  for (const ComputeStep& step : schedule.compute_steps) text += Print(step) + "\n";
  for (const LoopStep& step : schedule.loop_steps) text += Print(step) + "\n";
  return text;
}

Result<Schedule> ParseSchedule(std::string_view text, std::string_view file_name) {
  Schedule schedule;
  std::istringstream stream{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    const SourceLocation where{std::string(file_name), ++number, 1};
    if (const size_t comment = line.find('#'); comment != std::string::npos) line.resize(comment);
    WordReader words(line, where);
    if (words.IsAtEnd()) continue;
    if (schedule.lowering.empty()) {
      if (words.TryTake("lower")) {
        TUNEC_ASSIGN(schedule.lowering, words.Take("the name of a lowering"));
        continue;
      }
      schedule.lowering = kUsualLowering;
    } else if (words.TryTake("lower")) {
      return FailAt(words.where(), ErrorCode::kParse, "expected 'lower' once, before the steps");
    }
    TUNEC_ASSIGN(AnyStep step, ParseStep(words));
    TUNEC_RETURN_IF_ERROR(AddParsed(schedule, std::move(step), where));
  }
  if (schedule.lowering.empty()) schedule.lowering = kUsualLowering;
  return schedule;
}

}  // namespace tunec
