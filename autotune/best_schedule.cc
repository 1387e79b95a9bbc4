#include "autotune/best_schedule.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "autotune/keys.h"
#include "autotune/measure/arithmetic_gain.h"
#include "autotune/near_keys.h"
#include "schedule/apply.h"
#include "schedule/packed_constant.h"
#include "schedule/sketches/transformed_plan.h"

namespace tunec {
namespace {

// Numbers of the constants that a schedule needs in a packed layout.
struct PackCounts {
  int held = 0;  // packed already in this layout
  int anew = 0;  // still to be packed
};

PackCounts CountPacks(const std::vector<NamedCompute>& lowerings, const Schedule& schedule,
                      const IsPacked& packed) {
  PackCounts packs;
  const Compute* const compute = FindLowering(lowerings, schedule.lowering);
  for (const ComputeStep& step : schedule.compute_steps) {
    const auto* const pack = std::get_if<PackStep>(&step);
    if (compute == nullptr || pack == nullptr || !PackedConstant(*compute, *pack)) continue;
    ++(packed(*pack) ? packs.held : packs.anew);
  }
  return packs;
}

}  // namespace

ScheduleRanking::ScheduleRanking(const Database* database, const TuningTask& task,
                                 const TunerOptions& options, IsPacked packed)
    : task_(&task),
      target_(options.target),
      rounding_(RoundingFreedomFor(options.accuracy)),
      gain_(MeasuredGain(database, options.target, {options.timing_lock, options.cancelled})),
      packed_(std::move(packed)) {
  stages_ = {SketchStage::kNaive};
  if (options.sketches == SketchSet::kNaiveOnly) return;
  stages_ = {SketchStage::kPatterns, SketchStage::kComposed, SketchStage::kAffine,
             SketchStage::kNaive};
}

Result<ScheduleRanking> ScheduleRanking::Of(const Database* database, const TuningTask& task,
                                            const TunerOptions& options, IsPacked packed) {
  ScheduleRanking ranking(database, task, options, std::move(packed));
  if (database == nullptr) return ranking;
  for (const TuningKey& key : KeysByTrust(task, options.target, options.accuracy)) {
    // Records come from all sketches, so they do not help a caller that requests the naive one
    // only.
    if (options.sketches == SketchSet::kAll) TUNEC_RETURN_IF_ERROR(ranking.AddBest(*database, key));
    TUNEC_RETURN_IF_ERROR(ranking.AddFailures(*database, key));
  }
  const bool searched = !ranking.waiting_.empty() || options.sketches != SketchSet::kAll;
  if (!searched) TUNEC_RETURN_IF_ERROR(ranking.AddNear(*database, options));
  return ranking;
}

Status ScheduleRanking::AddFailures(const Database& database, const TuningKey& key) {
  TUNEC_ASSIGN(const std::vector<TrialRecord> trials, database.Trials(key));
  for (const TrialRecord& trial : trials) {
    if (trial.status != TrialStatus::kOk) listed_.insert(trial.schedule);
  }
  return {};
}

// Returns true if a kernel with this schedule may take only `seconds` on this machine.
bool ScheduleRanking::IsPlausible(const Schedule& schedule, double seconds,
                                  const TuningKey& key) const {
  constexpr double kFasterThanCeiling = 0.9;  // a ceiling may be too low
  const Compute* const lowering = FindLowering(task_->lowerings, schedule.lowering);
  if (!roofline_ || lowering == nullptr || target_.device) return true;
  double least = roofline_->TrafficSeconds(key.workload.bytes);
  const auto arithmetic = ArithmeticOf(*lowering, schedule, target_);
  const auto peak = arithmetic ? roofline_->PeakFlops(*arithmetic) : std::nullopt;
  if (peak && !HasTransforms(*lowering)) least = std::max(least, key.workload.flops / *peak);
  return seconds >= kFasterThanCeiling * least;
}

// Calls AddBest for the near keys, the nearest first, until it adds a schedule. Schedules that
// failed under these keys are not added later, except the naive one. Keys of seeds are left out:
// their times cannot be checked, so only a search uses them.
Status ScheduleRanking::AddNear(const Database& database, const TunerOptions& options) {
  const TuningKey own = MakeTuningKey(*task_, options.target, options.accuracy);
  TUNEC_ASSIGN(std::vector<TuningKey> keys,
               NearKeys(database, own, KnownTexts(own, EarlierWorkloadText(*task_))));
  std::erase_if(keys, HasSeeds);
  if (keys.empty()) return {};
  TUNEC_ASSIGN(roofline_, RecordedRoofline(database, options.target));
  for (const TuningKey& key : keys) {
    TUNEC_RETURN_IF_ERROR(AddBest(database, key));
    TUNEC_RETURN_IF_ERROR(AddFailures(database, key));
    std::erase_if(waiting_, [&](const RankedSchedule& found) {
      return !IsPlausible(found.schedule, *found.seconds, own);
    });
    for (RankedSchedule& found : waiting_) found.near = true;
    if (!waiting_.empty()) break;
  }
  return {};
}

// Adds the schedule of a record. Returns false if the schedule is listed already or cannot be used.
// An unusable schedule is damaged, or has another language version or an unknown lowering.
bool ScheduleRanking::AddRecord(const TrialRecord& record, const TuningKey& key) {
  if (listed_.contains(record.schedule)) return false;
  Result<Schedule> schedule = ParseSchedule(record.schedule, "record");
  if (!schedule || FindLowering(task_->lowerings, schedule->lowering) == nullptr) return false;
  waiting_.push_back({.schedule = std::move(*schedule),
                      .seconds = record.median_seconds,
                      .predicted = IsPrediction(key.policy)});
  listed_.insert(record.schedule);
  return true;
}

// Adds a schedule that goes before the best record, if the best one has constants to pack. The
// added schedule takes at most 5 % longer. It needs packed constants, which are all packed already.
// If there are several, the fastest is added. Adds nothing if no schedule qualifies.
Status ScheduleRanking::AddPacked(const Database& database, const TuningKey& key,
                                  const TrialRecord& best) {
  constexpr double kAsFast = 1.05;
  TUNEC_ASSIGN(std::vector<TrialRecord> trials, database.Trials(key));
  std::erase_if(trials, [&](const TrialRecord& trial) {
    return trial.status != TrialStatus::kOk || trial.median_seconds > kAsFast * best.median_seconds;
  });
  std::ranges::stable_sort(trials, {}, &TrialRecord::median_seconds);
  for (const TrialRecord& trial : trials) {
    const Result<Schedule> schedule = ParseSchedule(trial.schedule, "record");
    if (!schedule) continue;
    const PackCounts packs = CountPacks(task_->lowerings, *schedule, packed_);
    if (packs.anew == 0 && trial.schedule == best.schedule) return {};
    if (packs.anew == 0 && packs.held > 0 && AddRecord(trial, key)) return {};
  }
  return {};
}

Status ScheduleRanking::AddBest(const Database& database, const TuningKey& key) {
  TUNEC_ASSIGN(const std::optional<TrialRecord> best, database.Best(key));
  if (!best) return {};
  if (packed_) TUNEC_RETURN_IF_ERROR(AddPacked(database, key, *best));
  if (AddRecord(*best, key)) return {};
  // The chosen schedule is not usable, so the fastest usable one is added.
  TUNEC_ASSIGN(std::vector<TrialRecord> trials, database.Trials(key));
  std::erase_if(trials, [](const TrialRecord& t) { return t.status != TrialStatus::kOk; });
  std::ranges::stable_sort(trials, {}, &TrialRecord::median_seconds);
  (void)std::ranges::any_of(trials, [&](const TrialRecord& t) { return AddRecord(t, key); });
  return {};
}

void ScheduleRanking::AddStage() {
  const SketchStage stage = stages_.front();
  stages_.erase(stages_.begin());
  const SketchQuestion question{.lowerings = task_->lowerings,
                                .target = target_,
                                .rounding = rounding_,
                                .gain = gain_,
                                .packed = packed_};
  for (const Sketch& sketch : SketchesOf(stage, question)) {
    Schedule schedule = sketch.Fill(sketch.InitialDecisions());
    // The naive schedule is the last resort, even if it was recorded as a failure.
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
    choice.rejected.push_back({candidate->sketch, applies.error()});
  }
  return std::unexpected(choice.rejected.back().error);
}

Result<Schedule> BestSchedule(const Database* database, const TuningTask& task,
                              const TunerOptions& options) {
  TUNEC_ASSIGN(ChosenSchedule choice, ChooseSchedule(database, task, options));
  return std::move(choice.chosen.schedule);
}

}  // namespace tunec
