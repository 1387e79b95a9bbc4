#include <set>
#include <utility>

#include "autotune/tuner.h"
#include "schedule/apply.h"

namespace tunec {

Result<std::vector<RankedSchedule>> RankSchedules(const Database* database, const TuningTask& task,
                                                  const TunerOptions& options) {
  std::vector<RankedSchedule> ranked;
  std::set<std::string> listed;
  if (database != nullptr) {
    const TuningKey key = MakeTuningKey(task, options.target, options.accuracy);
    TUNEC_ASSIGN(const std::optional<TrialRecord> best, database->Best(key));
    // Records come from all sketches: who wants only the naive one has no use for them.
    if (best && options.sketches == SketchSet::kAll) {
      // A record of another version of the language, or damaged: a miss.
      Result<Schedule> schedule = ParseSchedule(best->schedule, "record");
      if (schedule && FindLowering(task, schedule->lowering) != nullptr) {
        ranked.push_back({std::move(*schedule), best->median_seconds});
        listed.insert(best->schedule);
      }
    }
    TUNEC_ASSIGN(const std::vector<TrialRecord> trials, database->Trials(key));
    for (const TrialRecord& trial : trials) {
      if (trial.status != TrialStatus::kOk) listed.insert(trial.schedule);
    }
  }
  const std::vector<Sketch> sketches =
      SketchesFor(task.lowerings, options.target, options.sketches);
  for (size_t i = 0; i < sketches.size(); ++i) {
    Schedule schedule = sketches[i].Fill(sketches[i].InitialDecisions());
    // The naive schedule is the last resort, whatever became of it.
    const bool last = i + 1 == sketches.size();
    if (listed.insert(Print(schedule)).second || last) {
      ranked.push_back({std::move(schedule), std::nullopt});
    }
  }
  return ranked;
}

Result<Schedule> BestSchedule(const Database* database, const TuningTask& task,
                              const TunerOptions& options) {
  TUNEC_ASSIGN(std::vector<RankedSchedule> ranked, RankSchedules(database, task, options));
  std::optional<Error> why;
  for (RankedSchedule& candidate : ranked) {
    const Compute& compute = *FindLowering(task, candidate.schedule.lowering);
    const auto applied =
        ApplySchedule(compute, candidate.schedule, ArithmeticFor(options.accuracy));
    if (applied) return std::move(candidate.schedule);
    why = applied.error();
  }
  return std::unexpected(*why);
}

}  // namespace tunec
