// Tests the use of trials that were recorded under an earlier measurement policy or workload text.
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MatmulRelu;
using testing::ScriptedMeasurer;
using testing::TaskOf;

// The text of an earlier policy, as databases have it. The current constants must not change it.
constexpr std::string_view kWarm = "warm, median of adaptive repeats v1";
constexpr std::string_view kCold = "weights cold, median of adaptive repeats v2";

class EarlierPolicy : public testing::TunerTest {
 protected:
  EarlierPolicy() { tasks_.resize(1); }
  TuningKey Key() const { return MakeTuningKey(tasks_[0], options_.target, {}); }
  TuningKey Before() const {
    TuningKey key = Key();
    key.policy = kWarm;
    return key;
  }
  void Record(const TuningKey& key, int64_t i, int64_t j, int64_t k, double seconds,
              TrialStatus status = TrialStatus::kOk) {
    TrialRecord trial{.status = status, .schedule = ScheduleFor(i, j, k)};
    trial.samples = {seconds};
    trial.median_seconds = seconds;
    trial.note = fmt::format("sketch=direct/main i={} j={} k={} by=evolution seed=1", i, j, k);
    ASSERT_TRUE(database_->RecordTrial(key, trial));
  }
  // Returns a schedule of the scripted space.
  static std::string ScheduleFor(int64_t i, int64_t j, int64_t k) {
    return Print(Sketches({}).front().fill({i, j, k}));
  }
};

TEST_F(EarlierPolicy, ItsBestIsMeasuredAgainFirst) {
  Record(Before(), 4, 2, 8, 1e-3);
  Record(Before(), 8, 8, 8, 2e-3);
  Record(Before(), 1, 1, 8, 0, TrialStatus::kIllegal);
  const std::vector<TrialRecord> before = *database_->Trials(Before());
  ScriptedMeasurer measurer;
  measurer.seconds = 0.5;  // very different from the recorded time
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.measured, options_.trials);  // old trials do not count for the budget
  EXPECT_EQ(measurer.batches.front(), 1u);
  EXPECT_EQ(measurer.order.front(), ScheduleFor(4, 2, 8));
  const std::vector<TrialRecord> now = *database_->Trials(Key());
  EXPECT_THAT(now.front().note, HasSubstr(" by=remeasured "));
  for (const TrialRecord& trial : now) EXPECT_NE(trial.median_seconds, 1e-3);
  EXPECT_EQ(report.progress.tasks[0].best_seconds, 0.5);
  EXPECT_EQ(*database_->Trials(Before()), before);
}

TEST_F(EarlierPolicy, WhereItsBestFailsNowAnalyticSchedulesFollow) {
  Record(Before(), 4, 2, 8, 1e-3);
  ScriptedMeasurer measurer;
  measurer.fails = [](const std::string& schedule) { return schedule == ScheduleFor(4, 2, 8); };
  Tuned(measurer);
  ASSERT_GE(measurer.order.size(), 2u);
  EXPECT_EQ(measurer.order[0], ScheduleFor(4, 2, 8));
  EXPECT_EQ(measurer.order[1], Print(Sketches({}).front().Fill({1, 1, 1})));
}

// A sketch has an additional knob today. It can still use the recorded values of the other knobs.
TEST_F(EarlierPolicy, AKnobThatWasNotThereIsAsItIsInitially) {
  Record(Before(), 4, 2, 8, 1e-3);
  const auto with_another = [](const TuningTask& task) {
    std::vector<Sketch> sketches = Sketches(task);
    sketches[0].knobs.push_back({"more", {0, 1}, 0});
    sketches[0].fill = [fill = sketches[0].fill](const std::vector<int64_t>& v) {
      Schedule schedule = fill({v[0], v[1], v[2]});
      if (v[3] != 0) schedule.Add(ParallelizeStep{"acc.i"});
      return schedule;
    };
    return sketches;
  };
  ScriptedMeasurer measurer;
  Tuned(measurer, with_another);
  EXPECT_EQ(measurer.order.front(), ScheduleFor(4, 2, 8));
}

TEST_F(EarlierPolicy, IsUsedUntilSomethingIsMeasured) {
  Record(Before(), 4, 2, 8, 1e-3);
  const auto ranked = [&] { return RankSchedules(database_.get(), tasks_[0], options_)->front(); };
  EXPECT_EQ(Print(ranked().schedule), ScheduleFor(4, 2, 8));
  EXPECT_EQ(SourceOf(ranked()), ScheduleSource::kTuned);
  Record(Key(), 1, 1, 4, 2e-3);  // slower, but timed as in a model
  EXPECT_EQ(Print(ranked().schedule), ScheduleFor(1, 1, 4));
}

TEST_F(EarlierPolicy, OfAnotherProcessorIsNoSeed) {
  Target other = options_.target;
  other.host.cpu = "other";
  TuningKey elsewhere = MakeTuningKey(tasks_[0], other, {});
  elsewhere.policy = kWarm;
  Record(elsewhere, 4, 2, 8, 1e-3);
  const auto seeds = FindSeeds(*database_, Key(), 8);
  ASSERT_TRUE(seeds) << seeds.error().Format();
  EXPECT_THAT(seeds->measured, IsEmpty());
}

// A fixture with a task whose weight is marked as finite. Unmarked() is the key of the same task in
// databases from before the finite-weight analysis.
class EarlierWorkload : public EarlierPolicy {
 protected:
  EarlierWorkload() {
    unmarked_ = Key();
    for (Tensor& tensor : tasks_[0].lowerings[0].compute.tensors) {
      tensor.finite = tensor.role == TensorRole::kWeight;
    }
  }
  const TuningKey& Unmarked() const { return unmarked_; }

 private:
  TuningKey unmarked_;
};

TEST_F(EarlierWorkload, IsTheOneWithoutTheMarks) {
  EXPECT_NE(Key().workload.text, Unmarked().workload.text);
  EXPECT_EQ(EarlierWorkloadText(tasks_[0]), Unmarked().workload.text);
  EXPECT_EQ(EarlierWorkloadText(TaskOf(MatmulRelu())), std::nullopt);
  std::vector<std::string> keys;
  for (const TuningKey& key : KeysByTrust(tasks_[0], options_.target, {})) {
    keys.push_back((key.workload == Key().workload ? "" : "unmarked ") + key.policy);
  }
  const std::string policy(kMeasurementPolicy), cold(kCold), warm(kWarm);
  EXPECT_THAT(keys, ElementsAre(policy, "unmarked " + policy, cold, "unmarked " + cold, warm,
                                "unmarked " + warm));
}

TEST_F(EarlierWorkload, ItsBestIsMeasuredAgainFirst) {
  Record(Unmarked(), 4, 2, 8, 1e-3);
  Record(Unmarked(), 8, 8, 8, 2e-3);
  const auto ranked = [&] { return RankSchedules(database_.get(), tasks_[0], options_)->front(); };
  EXPECT_EQ(Print(ranked().schedule), ScheduleFor(4, 2, 8));
  ScriptedMeasurer measurer;
  measurer.seconds = 0.5;
  Tuned(measurer);
  EXPECT_EQ(measurer.order.front(), ScheduleFor(4, 2, 8));
  EXPECT_THAT(database_->Trials(Key())->front().note, HasSubstr(" by=remeasured "));
  EXPECT_EQ(database_->Trials(Unmarked())->size(), 2U);
}

// Trials of today's policy come before those of an earlier one.
TEST_F(EarlierWorkload, OfTodaysPolicyComesFirst) {
  TuningKey warm = Unmarked();
  warm.policy = kWarm;
  Record(warm, 8, 8, 8, 1e-4);
  Record(Unmarked(), 4, 2, 8, 1e-3);
  const auto seeds = FindSeeds(*database_, Key(), 8, Unmarked().workload.text);
  ASSERT_TRUE(seeds) << seeds.error().Format();
  ASSERT_EQ(seeds->measured.size(), 2U);
  EXPECT_EQ(seeds->measured[0].schedule, ScheduleFor(4, 2, 8));
  EXPECT_EQ(seeds->measured[1].schedule, ScheduleFor(8, 8, 8));
}

TEST(Callers, AreAPartOfTheKeyOnTheHost) {
  TuningTask task = TaskOf(MatmulRelu());
  const Target cpu = DetectCpu(2);
  const TuningKey inside = MakeTuningKey(task, cpu, {});
  task.callers = {"A", "C"};
  const TuningKey outside = MakeTuningKey(task, cpu, {});
  EXPECT_EQ(outside.policy, std::string(kMeasurementPolicy) + "; callers place A C");
  EXPECT_EQ(outside.workload.text, inside.workload.text);
  std::vector<std::string> policies;
  for (const TuningKey& key : KeysByTrust(task, cpu, {})) policies.push_back(key.policy);
  EXPECT_THAT(policies,
              ElementsAre(outside.policy, inside.policy, std::string(kCold) + "; callers place A C",
                          kCold, std::string(kWarm) + "; callers place A C", kWarm));
  // The policy does not change the code.
  const Schedule schedule{.lowering = "direct"};
  EXPECT_EQ(ArtifactKey(task, schedule, cpu, {}),
            ArtifactKey(TaskOf(MatmulRelu()), schedule, cpu, {}));
}

}  // namespace
}  // namespace tunec
