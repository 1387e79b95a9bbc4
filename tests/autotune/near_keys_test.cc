// Tests the use of trials from near targets, which differ from the target only in the sizes of
// caches or in the number of cores.
#include "autotune/near_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autotune/best_schedule.h"
#include "autotune/fallback.h"
#include "autotune/keys.h"
#include "autotune/search/seeds.h"
#include "tests/autotune/scripted_tuning.h"

namespace tunec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RooflineOf;
using testing::ScriptedMeasurer;

class NearTargets : public testing::TunerTest {
 protected:
  NearTargets() { tasks_.resize(1); }
  TuningKey Key() const { return MakeTuningKey(tasks_[0], options_.target, {}); }
  TuningKey KeyWithL3(int64_t bytes) const {
    Target target = options_.target;
    target.host.l3_bytes = bytes;
    return MakeTuningKey(tasks_[0], target, {});
  }
  void Record(const TuningKey& key, int64_t i, double seconds,
              TrialStatus status = TrialStatus::kOk) {
    TrialRecord trial{.status = status, .schedule = ScheduleFor(i)};
    if (status == TrialStatus::kOk) trial.samples = {trial.median_seconds = seconds};
    trial.note = fmt::format("sketch=direct/main i={} j=1 k=1 by=evolution seed=1", i);
    ASSERT_TRUE(database_->RecordTrial(key, trial));
  }
  static std::string ScheduleFor(int64_t i) { return Print(Sketches({}).front().fill({i, 1, 1})); }
  std::vector<RankedSchedule> Ranked() const {
    return *RankSchedules(database_.get(), tasks_[0], options_);
  }
};

TEST_F(NearTargets, AreUsedUntilSomethingIsMeasuredHere) {
  Record(KeyWithL3(1), 4, 1e-3);
  Record(KeyWithL3(1), 8, 2e-3);
  const std::vector<RankedSchedule> ranked = Ranked();
  EXPECT_EQ(Print(ranked[0].schedule), ScheduleFor(4));
  EXPECT_EQ(Name(SourceOf(ranked[0])), "near");
  EXPECT_EQ(SourceOf(ranked[1]), ScheduleSource::kAnalytic);
  Record(Key(), 2, 1);  // slower, but measured on the target itself
  EXPECT_EQ(Print(Ranked()[0].schedule), ScheduleFor(2));
  EXPECT_EQ(SourceOf(Ranked()[0]), ScheduleSource::kTuned);
}

// If the best schedule of a near target failed on the target itself, this schedule is not used. The
// best schedule of another near target may be used.
TEST_F(NearTargets, AreNotUsedWhereTheirBestFailedHere) {
  Record(KeyWithL3(1), 4, 1e-3);
  Record(Key(), 4, 0, TrialStatus::kWrongResult);
  EXPECT_EQ(SourceOf(Ranked()[0]), ScheduleSource::kAnalytic);
  Record(KeyWithL3(2), 8, 1e-3);
  EXPECT_EQ(Print(Ranked()[0].schedule), ScheduleFor(8));
}

TEST_F(NearTargets, ComeInTheOrderOfTheirDistance) {
  Target far = options_.target;
  far.host.l1_bytes = 1;
  far.host.cores += 1;
  const TuningKey farther = MakeTuningKey(tasks_[0], far, {});
  Record(farther, 4, 1e-4);
  Record(KeyWithL3(1), 8, 1e-3);
  EXPECT_THAT(*NearKeys(*database_, Key(), {Key().workload.text}),
              ElementsAre(KeyWithL3(1), farther));
  EXPECT_EQ(Print(Ranked()[0].schedule), ScheduleFor(8));
}

// Trials for other threads, another accuracy or an earlier policy are near, but farther.
TEST_F(NearTargets, MayDifferInThreadsAccuracyAndPolicy) {
  Target other = options_.target;
  other.host.threads += 1;
  const TuningKey threads = MakeTuningKey(tasks_[0], other, {});
  Record(threads, 4, 1e-3);
  const TuningKey accuracy = MakeTuningKey(tasks_[0], options_.target, *ParseAccuracy("bf16"));
  Record(accuracy, 2, 1e-3);
  TuningKey earlier = KeyWithL3(1);
  earlier.policy = kEarlierMeasurementPolicies[0];
  Record(earlier, 8, 1e-3);
  EXPECT_THAT(*NearKeys(*database_, Key(), {Key().workload.text}),
              ElementsAre(earlier, threads, accuracy));
  EXPECT_EQ(Print(Ranked()[0].schedule), ScheduleFor(8));
}

// Trials of another database are not used without a search, because their times may be wrong. A
// search measures them first.
TEST_F(NearTargets, OfAnotherDatabaseAreSeeds) {
  TuningKey seeds = Key();
  seeds.policy = SeedsPolicy(seeds.policy);
  TuningKey neighbour = KeyWithL3(1);
  neighbour.policy = SeedsPolicy(neighbour.policy);
  const std::string analytic = Print(Ranked()[0].schedule);
  Record(seeds, 4, 1e-3);
  Record(neighbour, 8, 1e-3);
  const TrialRecord failed{.status = TrialStatus::kWrongResult, .schedule = analytic};
  ASSERT_TRUE(database_->RecordTrial(seeds, failed));
  EXPECT_EQ(SourceOf(Ranked()[0]), ScheduleSource::kAnalytic);
  EXPECT_EQ(Print(Ranked()[0].schedule), analytic) << "failures of seeds are not believed";
  ScriptedMeasurer measurer;
  measurer.seconds = 0.5;
  Tuned(measurer);
  EXPECT_EQ(measurer.order.front(), ScheduleFor(4));
}

// A time below the least time of this machine is from a faster machine or forged.
TEST_F(NearTargets, ImpossibleTimesAreNotUsed) {
  ASSERT_TRUE(RecordRoofline(*database_, options_.target, RooflineOf(1e9, 1e9)));
  const double least = Key().workload.flops / 1e9;
  Record(KeyWithL3(1), 4, 0.5 * least);
  EXPECT_EQ(SourceOf(Ranked()[0]), ScheduleSource::kAnalytic);
  Record(KeyWithL3(2), 8, 1.5 * least);
  EXPECT_EQ(Print(Ranked()[0].schedule), ScheduleFor(8));
}

TEST_F(NearTargets, OfOtherProcessorsOrPredictedTimesAreNone) {
  TuningKey predicted = KeyWithL3(1);
  predicted.policy = "predicted 2";
  Record(predicted, 4, 1e-3);
  TuningKey older = KeyWithL3(1);
  older.schedule_version -= 1;
  Record(older, 4, 1e-3);
  Target other = options_.target;
  other.host.cpu = "other";
  Record(MakeTuningKey(tasks_[0], other, {}), 4, 1e-3);
  EXPECT_THAT(*NearKeys(*database_, Key(), {Key().workload.text}), IsEmpty());
  EXPECT_EQ(SourceOf(Ranked()[0]), ScheduleSource::kAnalytic);
}

TEST_F(NearTargets, AreMeasuredFirst) {
  Record(KeyWithL3(1), 4, 1e-3);
  Record(KeyWithL3(2), 8, 1e-3);
  Record(KeyWithL3(3), 2, 1e-3);
  const auto seeds = FindSeeds(*database_, Key(), 8);
  ASSERT_TRUE(seeds) << seeds.error().Format();
  ASSERT_EQ(seeds->measured.size(), 2u);  // each seed costs a trial, so a third key gives none
  ScriptedMeasurer measurer;
  measurer.seconds = 0.5;
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(measurer.order.front(), seeds->measured[0].schedule);
  EXPECT_EQ(report.progress.measured, options_.trials);
  EXPECT_EQ(SourceOf(Ranked()[0]), ScheduleSource::kTuned);
}

}  // namespace
}  // namespace tunec
