#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "db/tables/schema.h"
#include "tests/db/samples.h"

namespace tunec {
namespace {

using testing::HasSubstr;

TEST(Records, TrialComesBackAsItWasRecorded) {
  Database database = OpenForTest();
  TrialRecord trial = OkTrial(1, 0.1 + 0.2);
  trial.samples = {1e-9, 5e-324, 0.30000000000000004, 1.7976931348623157e308};
  trial.accuracy_error = std::numeric_limits<double>::infinity();
  ASSERT_EQ(database.RecordTrial(SampleKey(), trial), RecordOutcome::kAdded);

  const auto trials = database.Trials(SampleKey());
  ASSERT_TRUE(trials.has_value());
  ASSERT_EQ(trials->size(), 1u);
  trial.id = trials->front().id;
  EXPECT_EQ(trials->front(), trial);
  EXPECT_EQ(database.Find(SampleKey(), trial.schedule)->value(), trial);
}

TEST(Records, EveryStatusComesBack) {
  Database database = OpenForTest();
  for (int number = 1; number <= 7; ++number) {
    const auto status = static_cast<TrialStatus>(number);
    const TrialRecord trial = number == 1 ? OkTrial(1, 1) : FailedTrial(number, status);
    ASSERT_TRUE(database.RecordTrial(SampleKey(), trial).has_value());
    EXPECT_EQ(database.Find(SampleKey(), trial.schedule)->value().status, status);
    EXPECT_NE(TrialStatusName(status), "");
  }
  EXPECT_EQ(database.CountTrials(SampleKey()), 7);
}

TEST(Records, UnknownKeyHasNothing) {
  const Database database = OpenForTest();
  EXPECT_EQ(database.CountTrials(SampleKey()), 0);
  EXPECT_EQ(database.Trials(SampleKey())->size(), 0u);
  EXPECT_EQ(database.Best(SampleKey()).value(), std::nullopt);
  EXPECT_FALSE(database.Converged(SampleKey()).value());
}

TEST(Records, EachPartOfTheKeySeparates) {
  Database database = OpenForTest();
  std::vector<TuningKey> keys(5, SampleKey());
  keys[1].workload.text += " ";
  keys[2].target += " ";
  keys[3].policy += " ";
  keys[4].schedule_version = 2;
  for (const TuningKey& key : keys) {
    EXPECT_EQ(database.RecordTrial(key, OkTrial(1, 1)), RecordOutcome::kAdded);
  }
  for (const TuningKey& key : keys) EXPECT_EQ(database.CountTrials(key), 1);
}

TEST(Records, DescriptionIsNotPartOfTheKey) {
  Database database = OpenForTest();
  ASSERT_TRUE(database.RecordTrial(SampleKey(), OkTrial(1, 1)).has_value());
  TuningKey renamed = SampleKey();
  renamed.workload.description = "another model";
  renamed.workload.flops = 7;
  EXPECT_EQ(database.RecordTrial(renamed, OkTrial(1, 1)), RecordOutcome::kUnchanged);
  EXPECT_EQ(database.List({})->at(0).key, renamed);
}

TEST(Records, BestIsTheSmallestMedianOfTheOkOnes) {
  Database database = OpenForTest();
  const TuningKey key = SampleKey();
  for (const auto& trial : {OkTrial(1, 3), OkTrial(2, 1), OkTrial(3, 2)}) {
    ASSERT_TRUE(database.RecordTrial(key, trial).has_value());
  }
  TrialRecord wrong = FailedTrial(4, TrialStatus::kWrongResult);
  wrong.median_seconds = 0.1;
  ASSERT_TRUE(database.RecordTrial(key, wrong).has_value());
  EXPECT_EQ(database.Best(key)->value().schedule, OkTrial(2, 1).schedule);
  EXPECT_EQ(database.Find(key, wrong.schedule)->value().median_seconds, 0);
}

TEST(Records, ScheduleIsKeptOnce) {
  Database database = OpenForTest();
  const TuningKey key = SampleKey();
  const TrialRecord first = OkTrial(1, 1);
  EXPECT_EQ(database.RecordTrial(key, first), RecordOutcome::kAdded);
  EXPECT_EQ(database.RecordTrial(key, first), RecordOutcome::kUnchanged);

  TrialRecord retimed = first;
  retimed.samples = {1.5, 1.4, 1.6, 1.5};
  retimed.median_seconds = 1.5;
  EXPECT_EQ(database.RecordTrial(key, retimed), RecordOutcome::kReplaced);
  EXPECT_EQ(database.RecordTrial(key, first), RecordOutcome::kUnchanged);
  EXPECT_EQ(database.Best(key)->value().median_seconds, 1.5);
  EXPECT_EQ(database.CountTrials(key), 1);
}

TEST(Records, TheChosenTrialIsTheBest) {
  Database database = OpenForTest();
  const TuningKey key = SampleKey();
  EXPECT_EQ(database.Choose(key, "none").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(database.RecordTrial(key, OkTrial(1, 1)).has_value());
  ASSERT_TRUE(database.RecordTrial(key, OkTrial(2, 2)).has_value());
  const TrialRecord failed = FailedTrial(3, TrialStatus::kCrashed);
  ASSERT_TRUE(database.RecordTrial(key, failed).has_value());
  EXPECT_EQ(database.Choose(key, failed.schedule).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(*database.Chosen(key), std::nullopt);
  EXPECT_EQ(database.Best(key)->value().schedule, OkTrial(1, 1).schedule);
  ASSERT_TRUE(database.Choose(key, OkTrial(2, 2).schedule).has_value());
  EXPECT_EQ(*database.Chosen(key), OkTrial(2, 2).schedule);
  EXPECT_EQ(database.Best(key)->value().schedule, OkTrial(2, 2).schedule);
  // Pruning retains the chosen trial.
  ASSERT_TRUE(database.Prune({.keep_best = 1}).has_value());
  EXPECT_EQ(database.Trials(key)->size(), 1u);
  EXPECT_EQ(*database.Chosen(key), OkTrial(2, 2).schedule);
  // A choice ends if its trial turns out to be wrong.
  ASSERT_TRUE(database.RecordTrial(key, OkTrial(1, 1)).has_value());
  ASSERT_TRUE(database.RecordTrial(key, FailedTrial(2, TrialStatus::kWrongResult)).has_value());
  EXPECT_EQ(*database.Chosen(key), std::nullopt);
  EXPECT_EQ(database.Best(key)->value().schedule, OkTrial(1, 1).schedule);
}

TEST(Records, RetimingCanCostTheFirstPlace) {
  Database database = OpenForTest();
  const TuningKey key = SampleKey();
  ASSERT_TRUE(database.RecordTrial(key, OkTrial(1, 1)).has_value());
  ASSERT_TRUE(database.RecordTrial(key, OkTrial(2, 2)).has_value());
  TrialRecord retimed = OkTrial(1, 3);
  retimed.samples = {1, 3, 3, 3};
  ASSERT_TRUE(database.RecordTrial(key, retimed).has_value());
  EXPECT_EQ(database.Best(key)->value().schedule, OkTrial(2, 2).schedule);
}

TEST(Records, WrongResultOutweighsTimeAndTimeOutweighsAccident) {
  Database database = OpenForTest();
  const TuningKey key = SampleKey();
  const TrialRecord accident = FailedTrial(1, TrialStatus::kTimedOut);
  const TrialRecord ok = OkTrial(1, 1);
  const TrialRecord wrong = FailedTrial(1, TrialStatus::kWrongResult);
  EXPECT_EQ(database.RecordTrial(key, accident), RecordOutcome::kAdded);
  EXPECT_EQ(database.RecordTrial(key, ok), RecordOutcome::kReplaced);
  EXPECT_EQ(database.RecordTrial(key, accident), RecordOutcome::kUnchanged);
  EXPECT_EQ(database.RecordTrial(key, wrong), RecordOutcome::kReplaced);
  EXPECT_EQ(database.RecordTrial(key, ok), RecordOutcome::kUnchanged);
  EXPECT_EQ(database.Best(key).value(), std::nullopt);
}

TEST(Records, ChargesCountForTheirModelOnly) {
  Database database = OpenForTest();
  const std::vector<TuningKey> keys = {SampleKey(0), SampleKey(1), SampleKey(2)};
  EXPECT_FALSE(database.Charged("m")->has_value());
  for (int n = 0; n < 3; ++n) {
    ASSERT_TRUE(database.RecordTrial(keys[0], OkTrial(n, 1), "m").has_value());
    ASSERT_TRUE(database.RecordTrial(keys[1], OkTrial(n, 1), "other").has_value());
  }
  // An existing schedule is not charged again.
  ASSERT_TRUE(database.RecordTrial(keys[0], OkTrial(0, 2), "m").has_value());
  EXPECT_EQ(database.Charged("m")->value(), 3);
  EXPECT_EQ(database.Charged("other")->value(), 3);
  // ChargeNewModel does not change the charges of a model that already has charges.
  ASSERT_TRUE(database.ChargeNewModel("m", keys, {1, 1, 1}).has_value());
  EXPECT_EQ(database.Charged("m")->value(), 3);
  ASSERT_TRUE(database.ChargeNewModel("new", keys, {2, 9, 5}).has_value());
  EXPECT_EQ(database.Charged("new")->value(), 2 + 3);  // limited to the number of trials
}

TEST(Records, WhatIsRemovedIsNotChargedAnyMore) {
  Database database = OpenForTest();
  const std::vector<TuningKey> keys = {SampleKey(0), SampleKey(1)};
  for (int n = 0; n < 3; ++n) {
    ASSERT_TRUE(database.RecordTrial(keys[0], OkTrial(n, 1 + n), "m").has_value());
    ASSERT_TRUE(database.RecordTrial(keys[1], OkTrial(n, 1 + n), "m").has_value());
  }
  ASSERT_TRUE(database.Prune({.keep_best = 1}).has_value());
  EXPECT_EQ(database.Charged("m")->value(), 2);
  EXPECT_EQ(database.Forget({keys[0].workload.text}), (PruneCounts{.trials = 1, .tasks = 1}));
  EXPECT_EQ(database.Charged("m")->value(), 1);
  EXPECT_EQ(database.Stats()->workloads, 1);
  EXPECT_EQ(database.Forget({keys[1].workload.text}), (PruneCounts{.trials = 1, .tasks = 1}));
  EXPECT_FALSE(database.Charged("m")->has_value());
  EXPECT_TRUE(database.IntegrityCheck()->empty());
}

TEST(Records, UsesTellUnderWhichKeysWorkloadsAreTuned) {
  Database database = OpenForTest();
  TuningKey other = SampleKey(0);
  other.target = "another";
  for (int n = 0; n < 2; ++n) {
    ASSERT_TRUE(database.RecordTrial(SampleKey(n), OkTrial(1, 1)).has_value());
    ASSERT_TRUE(
        database.RecordTrial(SampleKey(n), FailedTrial(2, TrialStatus::kCrashed)).has_value());
  }
  ASSERT_TRUE(database.RecordTrial(other, OkTrial(1, 1)).has_value());
  TuningKey failed = SampleKey(1);
  failed.target = "nothing but failures";
  ASSERT_TRUE(database.RecordTrial(failed, FailedTrial(2, TrialStatus::kCrashed)).has_value());
  const KeyUse both{SampleKey().target, SampleKey().policy, 1, 2, 4};
  const KeyUse one{"another", SampleKey().policy, 1, 1, 1};
  EXPECT_THAT(
      database.UsesOf({SampleKey(0).workload.text, SampleKey(1).workload.text, "none"}).value(),
      ::testing::ElementsAre(both, one));
}

TEST(Records, ConvergedIsRememberedAndForgotten) {
  const Convergence kAtCeiling{7, ConvergenceReason::kCeiling, 5e11};
  Database database = OpenForTest();
  ASSERT_TRUE(database.SetConverged(SampleKey(), kAtCeiling).has_value());
  EXPECT_EQ(database.Converged(SampleKey())->value(), kAtCeiling);
  EXPECT_FALSE(database.Converged(SampleKey(1)).value());
  ASSERT_TRUE(database.ClearConverged(SampleKey()).has_value());
  EXPECT_FALSE(database.Converged(SampleKey()).value());
}

TEST(Records, UndatedTrialIsDatedNow) {
  Database database = OpenForTest();
  TrialRecord trial = OkTrial(1, 1);
  trial.created_at = 0;
  ASSERT_TRUE(database.RecordTrial(SampleKey(), trial).has_value());
  EXPECT_GT(database.Best(SampleKey())->value().created_at, 1'700'000'000);
}

// Every recorded trial has a date. An import would give a trial without a date the current time.
TEST(Records, AStoredTrialWithoutADateIsDamaged) {
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  ASSERT_TRUE(database.RecordTrial(SampleKey(), OkTrial(1, 1)).has_value());
  Tamper(folder.File("t.db"), "UPDATE trials SET created_at = 0");
  EXPECT_EQ(database.Best(SampleKey()).value(), std::nullopt);
  EXPECT_THAT(*database.IntegrityCheck(), ::testing::ElementsAre("trial 1: creation time is 0"));
}

// RecordTrial stores no median for a trial that is not ok.
TEST(Records, AStoredFailureWithAMedianIsDamaged) {
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  ASSERT_TRUE(database.RecordTrial(SampleKey(), FailedTrial(1, TrialStatus::kCrashed)).has_value());
  Tamper(folder.File("t.db"), "UPDATE trials SET median_seconds = 0.5");
  EXPECT_TRUE(database.Trials(SampleKey())->empty());
  EXPECT_THAT(*database.IntegrityCheck(),
              ::testing::ElementsAre("trial 1: a trial that is not ok has a median"));
}

TEST(Records, MessageMayHoldAnyBytes) {
  Database database = OpenForTest();
  TrialRecord trial = FailedTrial(1, TrialStatus::kCrashed);
  trial.message = std::string("signal\0 11 \xff\xc3", 13);
  ASSERT_TRUE(database.RecordTrial(SampleKey(), trial).has_value());
  EXPECT_EQ(database.Trials(SampleKey())->at(0).message, "signal? 11 ??");
}

TEST(Records, WhatCannotBeStoredIsRejected) {
  Database database = OpenForTest();
  const auto rejects = [&](const TuningKey& key, const TrialRecord& trial, const char* message) {
    const auto outcome = database.RecordTrial(key, trial);
    ASSERT_FALSE(outcome.has_value()) << message;
    EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(outcome.error().message, HasSubstr(message));
  };
  TuningKey key = SampleKey();
  key.workload.text = "\xff";
  rejects(key, OkTrial(1, 1), "workload text is not UTF-8");
  key = SampleKey();
  key.target = "";
  rejects(key, OkTrial(1, 1), "target text is empty");
  key = SampleKey();
  key.schedule_version = 0;
  rejects(key, OkTrial(1, 1), "schedule version is 0, expected at least 1");

  rejects(SampleKey(), OkTrial(1, 0), "median of an ok trial is 0");
  rejects(SampleKey(), OkTrial(1, std::nan("")), "median is nan");
  TrialRecord trial = OkTrial(1, 1);
  trial.samples.push_back(-1);
  rejects(SampleKey(), trial, "sample is -1");
  trial = OkTrial(1, 1);
  trial.status = static_cast<TrialStatus>(8);
  rejects(SampleKey(), trial, "trial status is 8");
  trial = OkTrial(1, 1);
  trial.schedule = std::string("a\0b", 3);
  rejects(SampleKey(), trial, "schedule is not UTF-8");
  EXPECT_EQ(database.Stats()->tasks, 0);
}

TEST(Records, ListFiltersAndOrders) {
  Database database = OpenForTest();
  TuningKey conv = SampleKey(2);
  conv.workload.kind = "conv2d";
  for (const TuningKey& key : {SampleKey(1), SampleKey(0), conv}) {
    ASSERT_TRUE(database.RecordTrial(key, OkTrial(1, 2)).has_value());
    ASSERT_TRUE(database.RecordTrial(key, OkTrial(2, 1)).has_value());
    ASSERT_TRUE(database.RecordTrial(key, FailedTrial(3, TrialStatus::kIllegal)).has_value());
  }
  ASSERT_TRUE(database.SetConverged(conv, {1}).has_value());

  const auto all = database.List({});
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ(all->at(0).key, conv);
  EXPECT_EQ(all->at(1).key, SampleKey(0));
  EXPECT_EQ(all->at(2).key, SampleKey(1));
  EXPECT_EQ(all->at(0).trials, 3);
  EXPECT_EQ(all->at(0).ok, 2);
  EXPECT_EQ(all->at(0).best->median_seconds, 1);
  EXPECT_TRUE(all->at(0).converged);
  EXPECT_EQ(all->at(0).latest_at, 1'700'000'003);

  EXPECT_EQ(database.List({.kind = "matmul"})->size(), 2u);
  EXPECT_EQ(database.List({.target = "other"})->size(), 0u);
  EXPECT_EQ(database.List({.policy = conv.policy})->size(), 3u);
  EXPECT_EQ(database.List({.description_part = "layer 1"})->size(), 1u);
  EXPECT_EQ(database.List({.schedule_version = 2})->size(), 0u);
  EXPECT_EQ(database.List({.limit = 2})->size(), 2u);
  EXPECT_EQ(database.ListTrials({.kind = "conv2d"})->at(0).trials.size(), 3u);
}

TEST(Records, NeighboursAreOfOneKindTargetAndVersionAndHaveABest) {
  Database database = OpenForTest();
  TuningKey conv = SampleKey(1);
  conv.workload.kind = "conv2d";
  TuningKey later = SampleKey(2);
  later.schedule_version = 2;
  for (const TuningKey& key : {SampleKey(0), conv, later}) {
    ASSERT_TRUE(database.RecordTrial(key, OkTrial(1, 2)).has_value());
  }
  const TrialRecord failed = FailedTrial(1, TrialStatus::kCrashed);
  ASSERT_TRUE(database.RecordTrial(SampleKey(3), failed).has_value());

  const auto near = database.NearestWorkloads("matmul", SampleKey().target, 1);
  ASSERT_EQ(near->size(), 1u);
  EXPECT_EQ(near->at(0).key, SampleKey(0));
  EXPECT_EQ(near->at(0).best.schedule, OkTrial(1, 2).schedule);
  EXPECT_EQ(database.NearestWorkloads("matmul", "other", 1)->size(), 0u);
}

TEST(Records, StatsCount) {
  TempFolder folder;
  Database database = OpenForTest(folder.File("t.db"));
  ASSERT_TRUE(database.RecordTrial(SampleKey(), OkTrial(1, 2)).has_value());
  const TrialRecord failed = FailedTrial(2, TrialStatus::kCrashed);
  ASSERT_TRUE(database.RecordTrial(SampleKey(), failed).has_value());
  ASSERT_TRUE(database.SetConverged(SampleKey(1), {1}).has_value());
  ASSERT_TRUE(database.PutArtifact("key", {"12345", "{}", 0}).has_value());

  const auto stats = database.Stats();
  EXPECT_EQ(stats->path, folder.File("t.db"));
  EXPECT_EQ(stats->schema_version, SchemaVersion());
  EXPECT_GT(stats->file_bytes, 4096);
  EXPECT_EQ(stats->workloads, 2);
  EXPECT_EQ(stats->tasks, 2);
  EXPECT_EQ(stats->converged, 1);
  EXPECT_EQ(stats->trials, 2);
  EXPECT_EQ(stats->ok, 1);
  EXPECT_EQ(stats->artifacts, 1);
  EXPECT_EQ(stats->artifact_bytes, 5);
  ASSERT_EQ(stats->targets.size(), 1u);
  EXPECT_EQ(stats->targets[0].tasks, 2);
  EXPECT_EQ(stats->targets[0].trials, 2);
  EXPECT_EQ(stats->targets[0].ok, 1);
}

TEST(Records, ThreadsShareOneDatabase) {
  Database database = OpenForTest();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&database, thread] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(database.RecordTrial(SampleKey(i % 3), OkTrial(thread * 100 + i, 1 + i)));
        EXPECT_TRUE(database.Best(SampleKey(i % 3))->has_value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database.Stats()->trials, 200);
}

}  // namespace
}  // namespace tunec
