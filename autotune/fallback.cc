#include "autotune/fallback.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace tunec {
namespace {

std::string Milliseconds(double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); }

std::string Reason(const TrialRecord& failed) {
  std::string reason(TrialStatusName(failed.status));
  if (!failed.message.empty()) reason += ": " + failed.message;
  return reason;
}

// Returns a text with the time of the used schedule, and the failed one's if known; empty if the
// used schedule has no time. A candidate with a wrong result has the time of its checked run.
std::string Compared(const TrialRecord& failed, const RankedSchedule& used) {
  std::string text;
  if (used.seconds) text += "; it takes " + Milliseconds(*used.seconds);
  if (used.predicted) text += ", as predicted";
  if (used.near) text += " where it was measured";
  if (used.seconds && !failed.samples.empty()) {
    text += fmt::format(", the other took {} in one run", Milliseconds(failed.samples.front()));
  }
  return text;
}

}  // namespace

std::string_view Name(ScheduleSource source) {
  switch (source) {
    case ScheduleSource::kTuned:
      return "tuned";
    case ScheduleSource::kAnalytic:
      return "analytic";
    case ScheduleSource::kPredicted:
      return "predicted";
    case ScheduleSource::kNear:
      return "near";
    case ScheduleSource::kNaive:
      break;
  }
  return "naive";
}

ScheduleSource SourceOf(const RankedSchedule& schedule) {
  if (schedule.schedule.StepCount() == 0) return ScheduleSource::kNaive;
  if (!schedule.seconds) return ScheduleSource::kAnalytic;
  if (schedule.near) return ScheduleSource::kNear;
  return schedule.predicted ? ScheduleSource::kPredicted : ScheduleSource::kTuned;
}

Result<std::optional<std::string>> DescribeFallback(const Database* database,
                                                    const TuningTask& task,
                                                    const TunerOptions& options,
                                                    const RankedSchedule& used) {
  if (database == nullptr) return std::nullopt;
  std::vector<TrialRecord> failures;
  for (const TuningKey& key : KeysByTrust(task, options.target, options.accuracy)) {
    TUNEC_ASSIGN(const std::vector<TrialRecord> trials, database->Trials(key));
    std::ranges::copy_if(trials, std::back_inserter(failures),
                         [](const TrialRecord& t) { return t.status != TrialStatus::kOk; });
  }
  if (failures.empty()) return std::nullopt;
  TUNEC_ASSIGN(ScheduleRanking analytic, ScheduleRanking::Of(nullptr, task, options));
  const std::string first = Print(analytic.Next()->schedule);
  const auto failed = std::ranges::find(failures, first, &TrialRecord::schedule);
  if (failed == failures.end()) return std::nullopt;
  const ScheduleSource source = SourceOf(used);
  return fmt::format("{}: the analytic schedule is not used ({}) but {}{}", task.description,
                     Reason(*failed),
                     source == ScheduleSource::kAnalytic ? "another sketch's"
                                                         : fmt::format("a {} one", Name(source)),
                     Compared(*failed, used));
}

}  // namespace tunec
