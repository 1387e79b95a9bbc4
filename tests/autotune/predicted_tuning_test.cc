// Tests trials with predicted times. Such trials are stored separately and ranked after measured
// trials. A search that measures tries the schedules with the best predictions early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "autotune/best_schedule.h"
#include "autotune/fallback.h"
#include "autotune/key_parts.h"
#include "autotune/keys.h"
#include "autotune/search/seeds.h"
#include "tests/autotune/emulated_gpu.h"
#include "tests/autotune/scripted_tuning.h"

namespace tunec {
namespace {

using ::testing::Contains;
using testing::EmulatedGpu;
using testing::Gpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MatmulRelu;
using ::testing::Not;
using testing::ScriptedMeasurer;
using ::testing::SizeIs;
using testing::TaskOf;

TEST(PredictedKeys, AreTheGpusOwn) {
  const TuningTask task = TaskOf(MatmulRelu());
  const TuningKey predicted = MakeTuningKey(task, EmulatedGpu(), {});
  const TuningKey measured = MakeTuningKey(task, Gpu(), {});
  EXPECT_EQ(predicted.policy, kPredictionPolicy);
  EXPECT_TRUE(IsPrediction(predicted.policy));
  EXPECT_FALSE(IsPrediction(measured.policy));
  EXPECT_EQ(predicted.target, measured.target);
  EXPECT_THAT(predicted.target, Not(HasSubstr("emulated")));
  TuningKey earlier = measured;
  earlier.policy = kEarlierDevicePolicies[0];
  for (const Target& target : {Gpu(), EmulatedGpu()})
    EXPECT_EQ(KeysByTrust(task, target, {}), (std::vector{measured, earlier, predicted}));
  // Code for the emulation and code for the GPU are stored under different keys.
  const Schedule schedule{.lowering = "direct"};
  EXPECT_NE(ArtifactKey(task, schedule, Gpu(), {}), ArtifactKey(task, schedule, EmulatedGpu(), {}));
}

TEST(PredictedKeys, ArePredictedForPeopleToo) {
  const TuningTask task = TaskOf(MatmulRelu());
  const auto use = [&](const Target& target) {
    const TuningKey key = MakeTuningKey(task, target, {});
    return KeyUse{key.target, key.policy, key.schedule_version};
  };
  EXPECT_EQ(
      Compare(use(EmulatedGpu()), use(Gpu())),
      (KeyDifference{"times=predicted 2",
                     "measured=cold, graphs of runs in turns with the incumbent, median v3"}));
}

class PredictedTuningTest : public testing::TunerTest {
 protected:
  PredictedTuningTest() {
    options_.target = EmulatedGpu();
    options_.trials = 20;
    tasks_.resize(1);
  }
  const TuningTask& task() const { return tasks_[0]; }
  TuningKey Key(const Target& target) const { return MakeTuningKey(task(), target, {}); }
  void Record(const Target& target, const std::string& schedule, double seconds,
              TrialStatus status = TrialStatus::kOk) {
    ASSERT_TRUE(database_->RecordTrial(
        Key(target), {.status = status, .schedule = schedule, .median_seconds = seconds}));
  }
};

TEST_F(PredictedTuningTest, TrialsAreKeptAsPredictions) {
  ScriptedMeasurer measurer;
  const TuneReport report = Tuned(measurer);
  EXPECT_TRUE(report.progress.predicted);
  EXPECT_EQ(report.progress.measured, 20);
  EXPECT_TRUE(measurer.compared.empty());  // a second prediction would give the same times
  EXPECT_EQ(*database_->CountTrials(Key(Gpu())), 0);
  const auto trials = database_->Trials(Key(EmulatedGpu()));
  ASSERT_TRUE(trials) << trials.error().Format();
  EXPECT_THAT(*trials, SizeIs(20));
  for (const TrialRecord& trial : *trials) {
    EXPECT_THAT(trial.samples, IsEmpty());
    EXPECT_EQ(trial.median_seconds, ScriptedMeasurer::Seconds(trial.schedule));
  }
  const TuneReport again = Tuned(measurer);  // fails if a candidate is requested twice
  EXPECT_EQ(again.progress.measured, 0);
  EXPECT_EQ(again.stop, TuneStop::kBudget);
}

TEST_F(PredictedTuningTest, WhatIsKnownOfTheCodeStandsInTheNote) {
  ScriptedMeasurer measurer;
  measurer.note = "code.registers=40 code.spilled=0";
  Tuned(measurer);
  const auto trials = database_->Trials(Key(EmulatedGpu()));
  for (const TrialRecord& trial : *trials)
    EXPECT_THAT(trial.note, ::testing::EndsWith(" code.registers=40 code.spilled=0"));
  // The search can still parse the notes of recorded trials, and continues.
  options_.trials = 30;
  EXPECT_EQ(Tuned(measurer).progress.measured, 10);
}

TEST_F(PredictedTuningTest, MeasuredComesBeforePredictedBeforeAnalytic) {
  const auto ranked = [&](const Target& target) {
    TunerOptions options = options_;
    options.target = target;
    return *RankSchedules(database_.get(), task(), options);
  };
  const std::vector<RankedSchedule> analytic = ranked(Gpu());
  ASSERT_GE(analytic.size(), 2u);
  EXPECT_EQ(SourceOf(analytic.front()), ScheduleSource::kAnalytic);

  const std::string fast = "lower direct\nunroll acc.k 2\n";
  const std::string slow = "lower direct\nunroll acc.k 4\n";
  Record(EmulatedGpu(), fast, 1e-6);
  for (const Target& target : {Gpu(), EmulatedGpu()}) {
    const std::vector<RankedSchedule> predicted = ranked(target);
    EXPECT_EQ(Print(predicted.at(0).schedule), fast);
    EXPECT_TRUE(predicted.at(0).predicted);
    EXPECT_EQ(Name(SourceOf(predicted.at(0))), "predicted");
    EXPECT_EQ(predicted.at(0).seconds, 1e-6);
    EXPECT_EQ(predicted.size(), analytic.size() + 1);
  }
  Record(Gpu(), slow, 1);  // slower than predicted, but measured
  for (const Target& target : {Gpu(), EmulatedGpu()}) {
    const std::vector<RankedSchedule> measured = ranked(target);
    EXPECT_EQ(Print(measured.at(0).schedule), slow);
    EXPECT_FALSE(measured.at(0).predicted);
    EXPECT_EQ(Name(SourceOf(measured.at(0))), "tuned");
    EXPECT_EQ(Print(measured.at(1).schedule), fast);
  }
  // A wrong result on the GPU removes the schedule from the ranking, although its prediction was
  // good.
  Record(Gpu(), fast, 0, TrialStatus::kWrongResult);
  EXPECT_EQ(ranked(Gpu()).size(), analytic.size() + 1);
  // No trial applies to a GPU of another architecture.
  EXPECT_EQ(ranked(Gpu("sm_80")).size(), analytic.size());
}

TEST_F(PredictedTuningTest, AFallbackSaysThatItsTimeIsPredicted) {
  TunerOptions options = options_;
  const auto analytic = RankSchedules(nullptr, task(), options);
  Record(EmulatedGpu(), Print(analytic->front().schedule), 0, TrialStatus::kCompileError);
  const std::string other = "lower direct\nunroll acc.k 2\n";
  Record(EmulatedGpu(), other, 2e-3);
  const auto ranked = RankSchedules(database_.get(), task(), options);
  const auto line = DescribeFallback(database_.get(), task(), options, ranked->front());
  ASSERT_TRUE(line && *line);
  EXPECT_THAT(**line, HasSubstr("but a predicted one; it takes 2 ms, as predicted"));
}

TEST_F(PredictedTuningTest, AGpuMeasuresWhatIsFastByPredictionEarly) {
  ScriptedMeasurer predictor;
  Tuned(predictor);
  const auto predicted = database_->Trials(Key(EmulatedGpu()));
  options_.target = Gpu();
  const auto found = FindSeeds(*database_, Key(Gpu()), 8);
  ASSERT_TRUE(found) << found.error().Format();
  EXPECT_THAT(found->measured, IsEmpty());
  const std::vector<TrialRecord>& seeds = found->predicted;
  ASSERT_THAT(seeds, SizeIs(8));
  EXPECT_TRUE(std::ranges::is_sorted(seeds, {}, &TrialRecord::median_seconds));
  EXPECT_EQ(seeds.front().schedule, (*database_->Best(Key(EmulatedGpu())))->schedule);

  ScriptedMeasurer gpu;
  gpu.seconds = 0.5;  // very different from the prediction
  options_.trials = 13;
  const TuneReport report = Tuned(gpu);
  // A first trial is followed by a batch that contains the seeds.
  for (const TrialRecord& seed : seeds) EXPECT_THAT(gpu.order, Contains(seed.schedule));
  EXPECT_EQ(report.progress.tasks[0].best_seconds, 0.5);
  const auto measured = database_->Trials(Key(Gpu()));
  for (const TrialRecord& trial : *measured) EXPECT_EQ(trial.median_seconds, 0.5);
  EXPECT_EQ(*database_->Trials(Key(EmulatedGpu())), *predicted);
}

TEST_F(PredictedTuningTest, SeedsAreOfTheSameArchitecture) {
  const std::string own = "lower direct\nunroll acc.k 2\n";
  const std::string other = "lower direct\nunroll acc.k 4\n";
  Record(EmulatedGpu(), own, 2);
  Target h200 = EmulatedGpu();
  h200.device->part = "h200";
  Record(h200, other, 1);
  const auto seeds = [&](const Target& target) {
    std::vector<std::string> schedules;
    const auto found = FindSeeds(*database_, Key(target), 8);
    for (const TrialRecord& seed : found->predicted) schedules.push_back(seed.schedule);
    return schedules;
  };
  EXPECT_EQ(seeds(Gpu()), (std::vector{own, other}));
  const auto one = FindSeeds(*database_, Key(Gpu()), 1);
  ASSERT_THAT(one->predicted, SizeIs(1));
  EXPECT_EQ(one->predicted.front().schedule, own);
  EXPECT_THAT(seeds(Gpu("sm_80")), IsEmpty());
  EXPECT_THAT(seeds(DetectCpu(2)), IsEmpty());
  EXPECT_THAT(seeds(EmulatedGpu()), IsEmpty());  // seeds come from trials of other targets only
  Record(EmulatedGpu(), "lower direct\n", 0, TrialStatus::kIllegal);
  EXPECT_EQ(seeds(Gpu()).size(), 2u);
}

}  // namespace
}  // namespace tunec
