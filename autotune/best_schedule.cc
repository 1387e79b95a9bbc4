#include "autotune/best_schedule.h"

#include <algorithm>
#include <utility>

#include "autotune/measure/arithmetic_gain.h"
#include "schedule/apply.h"

namespace tunec {

ScheduleRanking::ScheduleRanking(const Database* database, const TuningTask& task,
                                 const TunerOptions& options)
    : task_(&task),
      target_(options.target),
      rounding_(RoundingFreedomFor(options.accuracy)),
      gain_(MeasuredGain(database, options.target)) {
  stages_ = {SketchStage::kNaive};
  if (options.sketches == SketchSet::kNaiveOnly) return;
  stages_ = {SketchStage::kPatterns, SketchStage::kComposed, SketchStage::kAffine,
             SketchStage::kNaive};
}

Result<ScheduleRanking> ScheduleRanking::Of(const Database* database, const TuningTask& task,
                                            const TunerOptions& options) {
  ScheduleRanking ranking(database, task, options);
  if (database == nullptr) return ranking;
  for (const TuningKey& key : KeysByTrust(task, options.target, options.accuracy)) {
    // Records come from all sketches: who wants only the naive one has no use for them.
    if (options.sketches == SketchSet::kAll) TUNEC_RETURN_IF_ERROR(ranking.AddBest(*database, key));
    TUNEC_ASSIGN(const std::vector<TrialRecord> trials, database->Trials(key));
    for (const TrialRecord& trial : trials) {
      if (trial.status != TrialStatus::kOk) ranking.listed_.insert(trial.schedule);
    }
  }
  return ranking;
}

Status ScheduleRanking::AddBest(const Database& database, const TuningKey& key) {
  TUNEC_ASSIGN(const std::optional<TrialRecord> best, database.Best(key));
  if (!best || listed_.contains(best->schedule)) return {};
  // A record of another version of the language, or damaged: a miss.
  Result<Schedule> schedule = ParseSchedule(best->schedule, "record");
  if (!schedule || FindLowering(task_->lowerings, schedule->lowering) == nullptr) return {};
  waiting_.push_back({.schedule = std::move(*schedule),
                      .seconds = best->median_seconds,
                      .predicted = IsPrediction(key.policy)});
  listed_.insert(best->schedule);
  return {};
}

void ScheduleRanking::AddStage() {
  const SketchStage stage = stages_.front();
  stages_.erase(stages_.begin());
  const SketchQuestion question{
      .lowerings = task_->lowerings, .target = target_, .rounding = rounding_, .gain = gain_};
  for (const Sketch& sketch : SketchesOf(stage, question)) {
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
