#include "autotune/best_schedule.h"

#include <algorithm>
#include <utility>

#include "schedule/apply.h"

namespace tunec {

ScheduleRanking::ScheduleRanking(const TuningTask& task, const TunerOptions& options)
    : task_(&task), target_(options.target), rounding_(RoundingFreedomFor(options.accuracy)) {
  stages_ = {SketchStage::kNaive};
  if (options.sketches == SketchSet::kNaiveOnly) return;
  stages_ = {SketchStage::kPatterns, SketchStage::kComposed, SketchStage::kAffine,
             SketchStage::kNaive};
}

Result<ScheduleRanking> ScheduleRanking::Of(const Database* database, const TuningTask& task,
                                            const TunerOptions& options) {
  ScheduleRanking ranking(task, options);
  if (database == nullptr) return ranking;
  const TuningKey key = MakeTuningKey(task, options.target, options.accuracy);
  TUNEC_ASSIGN(const std::optional<TrialRecord> best, database->Best(key));
  // Records come from all sketches: who wants only the naive one has no use for them.
  if (best && options.sketches == SketchSet::kAll) {
    // A record of another version of the language, or damaged: a miss.
    Result<Schedule> schedule = ParseSchedule(best->schedule, "record");
    if (schedule && FindLowering(task.lowerings, schedule->lowering) != nullptr) {
      ranking.waiting_.push_back({std::move(*schedule), best->median_seconds});
      ranking.listed_.insert(best->schedule);
    }
  }
  TUNEC_ASSIGN(const std::vector<TrialRecord> trials, database->Trials(key));
  for (const TrialRecord& trial : trials) {
    if (trial.status != TrialStatus::kOk) ranking.listed_.insert(trial.schedule);
  }
  return ranking;
}

void ScheduleRanking::AddStage() {
  const SketchStage stage = stages_.front();
  stages_.erase(stages_.begin());
  for (const Sketch& sketch : SketchesOf(stage, {task_->lowerings, target_, rounding_})) {
    Schedule schedule = sketch.Fill(sketch.InitialDecisions());
    // The naive schedule is the last resort, whatever became of it.
    if (listed_.insert(Print(schedule)).second || stage == SketchStage::kNaive) {
      waiting_.push_back({std::move(schedule), std::nullopt, sketch.name});
    }
  }
}

std::optional<RankedSchedule> ScheduleRanking::Next() {
  while (waiting_.empty() && !stages_.empty()) AddStage();
  if (waiting_.empty()) return std::nullopt;
  RankedSchedule next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

Result<std::vector<RankedSchedule>> RankSchedules(const Database* database, const TuningTask& task,
                                                  const TunerOptions& options) {
  TUNEC_ASSIGN(ScheduleRanking ranking, ScheduleRanking::Of(database, task, options));
  std::vector<RankedSchedule> ranked;
  while (auto next = ranking.Next()) ranked.push_back(*std::move(next));
  return ranked;
}

Result<ChosenSchedule> ChooseSchedule(const Database* database, const TuningTask& task,
                                      const TunerOptions& options) {
  TUNEC_ASSIGN(ScheduleRanking ranking, ScheduleRanking::Of(database, task, options));
  ChosenSchedule choice;
  while (auto candidate = ranking.Next()) {
    const Compute& compute = *FindLowering(task.lowerings, candidate->schedule.lowering);
    const Status applies =
        CheckApplies(compute, candidate->schedule, RoundingFreedomFor(options.accuracy));
    if (applies) {
      choice.chosen = *std::move(candidate);
      return choice;
    }
    choice.refused.push_back({candidate->sketch, applies.error()});
  }
  return std::unexpected(choice.refused.back().error);
}

Result<Schedule> BestSchedule(const Database* database, const TuningTask& task,
                              const TunerOptions& options) {
  TUNEC_ASSIGN(ChosenSchedule choice, ChooseSchedule(database, task, options));
  return std::move(choice.chosen.schedule);
}

}  // namespace tunec
