// Tests reasons for which a tuning ends: ceilings, patience, budgets and time limits.
// arithmetic_ceilings_test.cc tests ceilings of other instructions than float32 multiply-adds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autotune/search/search_space.h"
#include "autotune/trial_budget.h"
#include "autotune/tuner.h"
#include "tests/autotune/scripted_tuning.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using testing::Matmul;
using testing::RooflineOf;
using testing::ScriptedMeasurer;
using testing::TaskOf;

class TuningEnd : public testing::TunerTest {
 protected:
  TuningEnd() { tasks_ = {TaskOf(Matmul(96))}; }

  TuningKey Key(size_t task = 0) const {
    return MakeTuningKey(tasks_[task], options_.target, options_.accuracy);
  }
  // Returns the rate, in operations per second, of a kernel of the first task that takes `seconds`.
  double Rate(double seconds) const { return Key().workload.flops / seconds; }
  void Record(const Roofline& roofline) {
    ASSERT_TRUE(RecordRoofline(*database_, options_.target, roofline).has_value());
  }
  // Sets the results of the measurements of the machine, counted from the start of the test. The
  // last result repeats.
  void CeilingsAre(const std::vector<Roofline>& found) {
    meters_.machine = [this, found]() -> Result<Roofline> {
      return found[std::min(measured_ceilings_++, found.size() - 1)];
    };
  }
  size_t measured_ceilings_ = 0;
};

TEST_F(TuningEnd, ASearchEndsNearACeiling) {
  CeilingsAre({RooflineOf(Rate(0.99e-3), 1e10)});
  ScriptedMeasurer measurer;
  measurer.seconds = 1e-3;
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.measured, 1);
  EXPECT_EQ(report.stop, TuneStop::kConverged);
  EXPECT_EQ(DescribeStop(report), "within 3 % of the ceiling of 2 GFLOP/s");
  EXPECT_EQ(Tuned(measurer).progress.measured, 0);
  EXPECT_EQ(measured_ceilings_, 1u);
}

TEST_F(TuningEnd, AKernelAboveTheCeilingHasItMeasuredAgain) {
  CeilingsAre({RooflineOf(Rate(2e-3), 1e10), RooflineOf(Rate(0.1e-3), 1e10)});
  ScriptedMeasurer measurer;
  measurer.seconds = 1e-3;
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.measured, 40);
  EXPECT_EQ(measured_ceilings_, 2u);
  EXPECT_EQ(report.progress.ceilings->Float32().flops, Rate(0.1e-3));
  EXPECT_EQ((*RecordedRoofline(*database_, options_.target))->Float32().flops, Rate(0.1e-3));
}

// Some of a kernel's counted operations may not be multiply-adds, or may not be executed.
TEST_F(TuningEnd, AKernelThatStaysAboveTheCeilingDoesNotEndAtIt) {
  CeilingsAre({RooflineOf(Rate(1.01e-3), 1e10)});
  ScriptedMeasurer measurer;
  measurer.seconds = 1e-3;
  EXPECT_EQ(Tuned(measurer).progress.measured, 40);
  EXPECT_LE(measured_ceilings_, 3u);
}

TEST_F(TuningEnd, AGreaterCeilingReopensWhatConvergedBelowIt) {
  CeilingsAre({RooflineOf(Rate(0.99e-3), 1e10)});
  ScriptedMeasurer measurer;
  measurer.seconds = 1e-3;
  Tuned(measurer);
  ASSERT_EQ(*database_->Converged(Key()),
            (Convergence{(*database_->Converged(Key()))->space, ConvergenceReason::kCeiling,
                         Rate(0.99e-3)}));
  Record(RooflineOf(Rate(0.1e-3), 1e10));
  EXPECT_EQ(Tuned(measurer).progress.measured, 39);
}

TEST_F(TuningEnd, WhatConvergedForUnknownReasonsIsCheckedAgain) {
  ScriptedMeasurer measurer;
  options_.trials = 2;
  Tuned(measurer, ManySketches);
  ASSERT_TRUE(database_->SetConverged(Key(), {SearchSpace(ManySketches(tasks_[0])).Fingerprint()})
                  .has_value());
  options_.trials = 40;
  EXPECT_EQ(Tuned(measurer, ManySketches).progress.measured, 38);
}

TEST_F(TuningEnd, AProvisionalCeilingEndsNothingAndIsMeasuredAgain) {
  CeilingsAre({RooflineOf(Rate(0.99e-3), 1e10, 0.3)});
  ScriptedMeasurer measurer;
  measurer.seconds = 1e-3;
  options_.trials = 10;
  EXPECT_EQ(Tuned(measurer).progress.measured, 10);
  EXPECT_EQ(measured_ceilings_, 1u);
  CeilingsAre({RooflineOf(Rate(0.99e-3), 1e10, 0.01)});
  options_.trials = 40;
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(measured_ceilings_, 2u);
  EXPECT_EQ(report.stop, TuneStop::kConverged);
  EXPECT_FALSE((*RecordedRoofline(*database_, options_.target))->IsProvisional());
}

TEST_F(TuningEnd, NothingConvergesOnABusyMachine) {
  CeilingsAre({RooflineOf(Rate(0.99e-3), 1e10)});
  busy_ = true;
  options_.trials = 200;
  ScriptedMeasurer measurer;
  measurer.seconds = 1e-3;
  const TuneReport report = Tuned(measurer, ManySketches);
  EXPECT_EQ(report.progress.measured, 200);
  EXPECT_EQ(report.stop, TuneStop::kBudget);
  EXPECT_FALSE(*database_->Converged(Key()));
}

TEST_F(TuningEnd, PatienceGrowsWithTheBudget) {
  ScriptedMeasurer measurer;
  measurer.seconds = 1e-3;  // no candidate is faster than the first
  options_.trials = 400;
  const TuneReport first = Tuned(measurer, ManySketches);
  EXPECT_EQ(first.stop, TuneStop::kConverged);
  EXPECT_GE(first.progress.measured, 64);
  EXPECT_LT(first.progress.measured, 64 + 16);
  EXPECT_THAT(DescribeStop(first), HasSubstr("trials without gain"));
  EXPECT_EQ(Tuned(measurer, ManySketches).progress.measured, 0);
  options_.trials = 1600;
  const TuneReport second = Tuned(measurer, ManySketches);
  EXPECT_GE(second.progress.trials, 200);
  EXPECT_LT(second.progress.trials, 200 + 16);
}

TEST_F(TuningEnd, RetuningGoesOnWithABudgetOfItsOwn) {
  tasks_ = {TaskOf(Matmul(160)), TaskOf(Matmul(96))};  // only the first comes near the ceiling
  CeilingsAre({RooflineOf(Rate(0.99e-3), 1e10)});
  ScriptedMeasurer measurer;
  measurer.seconds = 1e-3;
  options_.trials = 20;
  Tuned(measurer, ManySketches);
  ASSERT_TRUE(*database_->Converged(Key(0)));
  const int64_t before = Recorded(tasks_[1]);
  options_.retune = {0};
  const TuneReport report = Tuned(measurer, ManySketches);
  EXPECT_EQ(report.progress.measured, 20);
  EXPECT_EQ(Recorded(tasks_[0]), 21);
  EXPECT_EQ(Recorded(tasks_[1]), before);
  options_.retune = {};
  EXPECT_EQ(Tuned(measurer, ManySketches).progress.measured, 0);
}

// A call for more trials begins with evolution, although the earlier trials are most of all.
TEST_F(TuningEnd, RetuningBeginsWithEvolution) {
  ScriptedMeasurer measurer;
  options_.trials = 60;
  tasks_ = {TaskOf(Matmul(160))};
  Tuned(measurer, ManySketches);
  const auto by = [&](const std::string& strategy) {
    int count = 0;
    const std::vector<TrialRecord> trials = *database_->Trials(Key(0));
    for (const TrialRecord& trial : trials) count += trial.note.contains("by=" + strategy) ? 1 : 0;
    return count;
  };
  const int evolved = by("evolve"), descended = by("descend");
  EXPECT_GT(evolved, 0);
  options_.retune = {0};
  options_.trials = 12;
  options_.batch = 12;
  Tuned(measurer, ManySketches);
  EXPECT_GT(by("evolve"), evolved);
  EXPECT_EQ(by("descend"), descended) << "one batch is the first";
}

TEST_F(TuningEnd, TimeEndsASearch) {
  ScriptedMeasurer measurer;
  measurer.on_candidate = [this] { now_ += 1; };
  options_.trials = 1000;
  options_.time_limit_seconds = 30;
  const TuneReport report = Tuned(measurer, ManySketches);
  EXPECT_EQ(report.stop, TuneStop::kTimeLimit);
  EXPECT_EQ(DescribeStop(report), "the time limit has passed");
  EXPECT_GE(report.progress.measured, 27);
  EXPECT_LT(report.progress.measured, 27 + options_.batch);
  EXPECT_GE(measurer.compared.size(), 1u);  // the rest of the time limit is for the finalists
}

TEST_F(TuningEnd, AnotherModelsTrialsDoNotStarveTheRest) {
  ScriptedMeasurer measurer;
  options_.trials = 60;
  Tuned(measurer);
  tasks_.push_back(TaskOf(Matmul(160)));  // the second model also has the first model's only task
  options_.trials = 40;
  const TuneReport second = Tuned(measurer);
  EXPECT_EQ(second.progress.measured, 20);
  EXPECT_EQ(second.progress.trials, 40);
  EXPECT_EQ(second.progress.recorded, 80);
  EXPECT_GE(Recorded(tasks_[1]), 10);
  const TuneReport again = Tuned(measurer);
  EXPECT_EQ(again.progress.measured, 0);
  EXPECT_EQ(DescribeStop(again), "the budget was spent before");
  // Trials that the second model records for the shared task are not charged to the first.
  tasks_.pop_back();
  options_.trials = 62;
  EXPECT_EQ(Tuned(measurer).progress.measured, 2);
}

TEST_F(TuningEnd, ForgottenTrialsAreNotSpent) {
  ScriptedMeasurer measurer;
  options_.trials = 12;
  Tuned(measurer);
  ASSERT_TRUE(database_->Forget({WorkloadText(tasks_[0])}).has_value());
  measurer.seen.clear();
  EXPECT_EQ(Tuned(measurer).progress.measured, 12);
}

// The callback records trials like a concurrent process that tunes the same model.
TEST_F(TuningEnd, WhatOthersRecordMeanwhileCounts) {
  ScriptedMeasurer measurer;
  int others = 0;
  measurer.on_candidate = [&] {
    TrialRecord trial{.schedule = fmt::format("by another {}", ++others),
                      .median_seconds = 1,
                      .samples = {1},
                      .note = "sketch=direct/main"};
    ASSERT_TRUE(database_->RecordTrial(Key(), trial, ModelIdentity({Key()})).has_value());
  };
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.measured, others);
  EXPECT_GE(report.progress.trials, 40);
  EXPECT_LE(report.progress.trials, 41);
  EXPECT_EQ(Recorded(tasks_[0]), report.progress.trials);
}

TEST(TrialBudget, FirstChargesAreFair) {
  EXPECT_EQ(FairCharges({63}, 40), (std::vector<int64_t>{40}));
  EXPECT_EQ(FairCharges({0, 60}, 40), (std::vector<int64_t>{0, 20}));
  // If the budget does not divide evenly, the tasks with the fewest trials have the larger shares.
  EXPECT_EQ(FairCharges({9, 9, 0}, 5), (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(FairCharges({9, 9, 9}, 5), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(FairCharges({}, 5), (std::vector<int64_t>{}));
}

TEST(TrialBudget, AModelIsTheSetOfItsKeys) {
  const TuningKey a{.workload = {.text = "a"}, .target = "t", .policy = "p"};
  TuningKey b = a;
  b.target = "other";
  EXPECT_EQ(ModelIdentity({a, b}), ModelIdentity({b, a}));
  EXPECT_EQ(ModelIdentity({a, b}), ModelIdentity({b, a, a}));
  EXPECT_NE(ModelIdentity({a, b}), ModelIdentity({a}));
  // Trials stay valid in a new version of the schedule language, and so do their charges.
  TuningKey older = a;
  --older.schedule_version;
  EXPECT_EQ(ModelIdentity({older, b}), ModelIdentity({a, b}));
}

TEST(Ceilings, TheGreaterHolds) {
  const Roofline low = RooflineOf(1e11, 2e10, 0.01);
  const Roofline busy = RooflineOf(2e11, 1e10, 0.4);
  EXPECT_EQ(Combine(low, busy), RooflineOf(2e11, 2e10, 0.4));
  EXPECT_EQ(Combine(busy, low), Combine(low, busy));
  const Roofline calm = RooflineOf(1.98e11, 1e10);
  EXPECT_EQ(Combine(busy, calm), RooflineOf(2e11, 1e10));
}

TEST(Ceilings, TrafficIsCountedWhereTheDataMayLie) {
  const Roofline roofline{
      .bytes_per_second = 1e10,
      .caches = {CacheCeiling{1e5, 4e11}, CacheCeiling{1e6, 1e11}, CacheCeiling{1e7, 2e10}},
      .arithmetics = {{Float32Fma().name, {1e12, 0}}}};
  const auto expect = [&](double flops, double bytes, double seconds, Ceiling by) {
    const auto bound = roofline.BoundFor(KernelArithmetic{&Float32Fma()}, flops, bytes);
    ASSERT_TRUE(bound);
    EXPECT_DOUBLE_EQ(bound->seconds, seconds);
    EXPECT_EQ(Name(bound->by), Name(by));
    if (flops == 0) {
      EXPECT_DOUBLE_EQ(roofline.TrafficSeconds(bytes), seconds);
    }
  };
  const double l1 = 1e5 / 4e11, l2 = 9e5 / 1e11, l3 = 9e6 / 2e10;
  expect(0, 1e5, l1, Ceiling::kL1);
  expect(0, 1e6, l1 + l2, Ceiling::kL2);
  expect(0, 1e7, l1 + l2 + l3, Ceiling::kL3);
  expect(0, 2e7, l1 + l2 + l3 + 1e7 / 1e10, Ceiling::kMemory);
  expect(1e9, 1e6, 1e-3, Ceiling::kArithmetic);
}

TEST(Ceilings, CachesThatWereNeverMeasuredCountAsMemory) {
  const Roofline old = RooflineOf(1e12, 1e10);
  EXPECT_DOUBLE_EQ(old.BoundFor(std::nullopt, 0, 1e3)->seconds, 1e-7);
  EXPECT_FALSE(old.IsReliable());
  Database database = *Database::Open(":memory:", OpenMode::kReadWrite);
  const Target target;
  Roofline now = old;
  now.caches = CachesOf(target);
  now.caches[0].bytes_per_second = 4e11;
  ASSERT_TRUE(RecordRoofline(database, target, old).has_value());
  ASSERT_TRUE(RecordRoofline(database, target, now).has_value());
  EXPECT_EQ(**RecordedRoofline(database, target), now);
  EXPECT_TRUE(now.IsReliable());
}

// For a device, the ceilings of its host are not used.
TEST(Ceilings, OfADeviceAreNotTheHosts) {
  const Target target{.device = Accelerator{.kind = "cuda", .name = "sm_90a"}};
  EXPECT_EQ(CachesOf(target)[0].bytes, 0);
  EXPECT_EQ(MeasureRoofline(target).error().code, ErrorCode::kUnsupported);
}

// Earlier versions of tunec did not record the disturbance of a measurement.
TEST(Ceilings, WithoutARecordedDisturbanceTheyAreProvisional) {
  Database database = *Database::Open(":memory:", OpenMode::kReadWrite);
  const Target target;
  ASSERT_TRUE(database.SetMachineFact(Print(target), {"peak_flops", 1e11, "", 1}).has_value());
  ASSERT_TRUE(
      database.SetMachineFact(Print(target), {"dram_bytes_per_second", 1e10, "", 1}).has_value());
  EXPECT_TRUE((*RecordedRoofline(database, target))->IsProvisional());
}

}  // namespace
}  // namespace tunec
