#include "autotune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "autotune/best_code.h"
#include "autotune/best_schedule.h"
#include "autotune/tune_with.h"
#include "tests/autotune/scripted_tuning.h"
#include "tests/schedule/loops_of.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using testing::Matmul;
using testing::MatmulRelu;
using testing::ScriptedMeasurer;
using testing::SoftmaxRows;
using testing::TaskOf;
using testing::TunerTest;

TEST_F(TunerTest, SpendsItsBudgetAndNoMore) {
  ScriptedMeasurer measurer;
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.trials, 40);
  EXPECT_EQ(report.progress.measured, 40);
  EXPECT_EQ(Recorded(tasks_[0]) + Recorded(tasks_[1]), 40);
  EXPECT_EQ(measurer.order.size(), 40u);
  EXPECT_GT(report.progress.tasks[0].trials, 0);
  EXPECT_GT(report.progress.tasks[1].trials, 0);
  EXPECT_NEAR(report.progress.compile_seconds, 0.4, 1e-9);
  ASSERT_TRUE(report.progress.total_seconds);
  EXPECT_NEAR(*report.progress.total_seconds,
              2 * *report.progress.tasks[0].best_seconds + *report.progress.tasks[1].best_seconds,
              1e-12);
}

TEST_F(TunerTest, TheSecondRunMeasuresNothing) {
  ScriptedMeasurer first;
  const TuneReport before = Tuned(first);
  const TuningParts none{[]() -> Result<std::unique_ptr<Measurer>> {
                           ADD_FAILURE() << "a measurer was made";
                           return Fail(ErrorCode::kNotFound, "none");
                         },
                         [](const TuningTask&) -> std::vector<Sketch> {
                           ADD_FAILURE() << "sketches were made";
                           return {};
                         }};
  const Result<TuneReport> after = TuneWith(*database_, tasks_, options_, none);
  ASSERT_TRUE(after) << after.error().Format();
  EXPECT_EQ(after->progress.measured, 0);
  EXPECT_EQ(after->progress.trials, 40);
  EXPECT_EQ(after->progress.total_seconds, before.progress.total_seconds);
}

TEST_F(TunerTest, TheCodeThatWasMeasuredIsStoredForTheBest) {
  ScriptedMeasurer measurer;
  Tuned(measurer);
  for (const TuningTask& task : tasks_) {
    const auto best = database_->Best(MakeTuningKey(task, options_.target, options_.accuracy));
    ASSERT_TRUE(best && *best);
    const auto schedule = ParseSchedule((*best)->schedule, "best");
    ASSERT_TRUE(schedule) << schedule.error().Format();
    const auto stored =
        database_->GetArtifact(ArtifactKey(task, *schedule, options_.target, options_.accuracy));
    ASSERT_TRUE(stored && *stored);
    EXPECT_EQ((*stored)->object, ScriptedMeasurer::CodeOf((*best)->schedule).object);
  }
}

// The comparison may change the best schedule. Then the code of the new best is stored.
TEST(BestCode, OfWhateverTurnsOutToBeTheFastest) {
  Database database = *Database::Open(":memory:", OpenMode::kReadWrite);
  const TuningTask task = TaskOf(MatmulRelu());
  const Target target = DetectCpu(2);
  const Accuracy accuracy;
  BestCode code(task, target, accuracy);
  const auto stored = [&](const std::string& text) {
    const auto schedule = ParseSchedule(text, "test");
    return database.GetArtifact(ArtifactKey(task, *schedule, target, accuracy))->has_value();
  };
  const std::string first = "lower direct\nunroll acc.k 2\n";
  const std::string second = "lower direct\nunroll acc.k 4\n";
  const std::string slow = "lower direct\nunroll acc.k 8\n";
  ASSERT_TRUE(code.Add(database, slow, 3, ScriptedMeasurer::CodeOf(slow)));
  ASSERT_TRUE(code.Add(database, first, 1, ScriptedMeasurer::CodeOf(first)));
  ASSERT_TRUE(code.Add(database, second, 1.01, ScriptedMeasurer::CodeOf(second)));
  EXPECT_TRUE(stored(slow));
  EXPECT_TRUE(stored(first));
  EXPECT_FALSE(stored(second));
  ASSERT_TRUE(code.StoreBest(database, second));
  EXPECT_TRUE(stored(second));
  EXPECT_FALSE(stored(slow));
  EXPECT_FALSE(stored(first));
  EXPECT_TRUE(code.StoreBest(database, "lower direct\n")) << "a schedule without code here";
  EXPECT_FALSE(stored(second)) << "code of an earlier winner is not used any more";
}

TEST_F(TunerTest, RecordedTrialsCountAndAreNotRepeated) {
  ScriptedMeasurer measurer;  // fails if a candidate is requested twice
  options_.trials = 15;
  Tuned(measurer);
  options_.trials = 33;
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.measured, 18);
  EXPECT_EQ(report.progress.trials, 33);
}

TEST_F(TunerTest, FailuresCount) {
  ScriptedMeasurer measurer;
  measurer.fails = [](const std::string& schedule) { return schedule.contains("acc.i 4"); };
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.trials, 40);
  EXPECT_GT(report.progress.tasks[0].failures + report.progress.tasks[1].failures, 0);
}

TEST_F(TunerTest, EqualSeedsGiveEqualSearches) {
  ScriptedMeasurer first;
  Tuned(first);
  *database_ = *Database::Open(":memory:", OpenMode::kReadWrite);
  ScriptedMeasurer second;
  Tuned(second);
  EXPECT_EQ(first.order, second.order);
  *database_ = *Database::Open(":memory:", OpenMode::kReadWrite);
  ScriptedMeasurer third;
  options_.seed = 4;
  Tuned(third);
  EXPECT_NE(first.order, third.order);
}

TEST_F(TunerTest, TheAnalyticScheduleIsTrialZero) {
  ScriptedMeasurer measurer;
  options_.trials = 2;
  Tuned(measurer);
  EXPECT_EQ(measurer.batches, (std::vector<size_t>{1, 1}));
  for (size_t i = 0; i < 2; ++i) {
    const Sketch first = Sketches(tasks_[i])[0];
    EXPECT_EQ(measurer.order[i], Print(first.Fill(first.InitialDecisions())));
  }
}

// The best schedule of a similar task precedes the analytic schedules of other sketches, also if
// these alone would fill the batch.
TEST_F(TunerTest, SchedulesOfSimilarTasksPrecedeOtherAnalyticOnes) {
  const auto several = [](const TuningTask& task) {
    std::vector<Sketch> sketches = Sketches(task);
    for (int64_t factor = 200; factor < 212; ++factor) {
      Sketch more = sketches[1];
      more.name = "more" + std::to_string(factor);
      more.knobs = {{"factor", {factor}, 0}};
      sketches.insert(sketches.begin() + 1, more);
    }
    return sketches;
  };
  const std::string transfer = "lower direct\nunroll acc.i 8\nunroll acc.j 4\nunroll acc.k 2\n";
  const TuningKey similar = MakeTuningKey(TaskOf(Matmul(128)), options_.target, {});
  ASSERT_TRUE(
      database_->RecordTrial(similar, {.schedule = transfer,
                                       .median_seconds = 1e-3,
                                       .samples = {1e-3},
                                       .note = "sketch=direct/main i=8 j=4 k=2 by=test seed=0"}));
  tasks_ = {TaskOf(Matmul(96))};
  options_.trials = 5;
  ScriptedMeasurer measurer;
  Tuned(measurer, several);
  const Sketch first = Sketches(tasks_[0])[0];
  EXPECT_EQ(measurer.order[0], Print(first.Fill(first.InitialDecisions())));
  EXPECT_THAT(measurer.order, ::testing::Contains(transfer));
}

TEST_F(TunerTest, EqualTasksShareTheirTrials) {
  tasks_ = {TaskOf(Matmul(96), 2), TaskOf(Matmul(96), 3)};
  ScriptedMeasurer measurer;
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.trials, 40);
  EXPECT_EQ(report.progress.tasks[0].trials, report.progress.tasks[1].trials);
  EXPECT_EQ(report.progress.tasks[0].weight, 5);
  EXPECT_NEAR(*report.progress.total_seconds, 5 * *report.progress.tasks[0].best_seconds, 1e-12);
}

TEST_F(TunerTest, AnExhaustedSpaceIsConverged) {
  options_.trials = 1000;
  ScriptedMeasurer measurer;
  const TuneReport report = Tuned(measurer);
  // Each of the two tasks has 67 candidates in two sketches. The naive schedule is not measured,
  // because another schedule is correct.
  EXPECT_LE(report.progress.measured, 2 * 67);
  EXPECT_GT(report.progress.measured, 67);
  EXPECT_EQ(std::ranges::count(measurer.order, "lower direct\n"), 0);
  EXPECT_TRUE(report.progress.tasks[0].converged);
  const auto converged = *database_->Converged(MakeTuningKey(tasks_[0], options_.target, {}));
  ASSERT_TRUE(converged);
  EXPECT_EQ(converged->reason, ConvergenceReason::kExhausted);
  EXPECT_EQ(DescribeStop(report), "every candidate tried");
  EXPECT_EQ(Tuned(measurer).progress.measured, 0);
}

TEST_F(TunerTest, ASketchAddedLaterIsTriedOnConvergedTasks) {
  options_.trials = 1000;
  ScriptedMeasurer measurer;
  Tuned(measurer);
  measurer.order.clear();
  const TuneReport report = Tuned(measurer, SketchesAndOneMore);
  EXPECT_EQ(report.progress.measured, 2 * 2);  // two tasks, two choices of the new sketch each
  for (const std::string& schedule : measurer.order) EXPECT_THAT(schedule, HasSubstr("acc.i"));
  EXPECT_EQ(Tuned(measurer, SketchesAndOneMore).progress.measured, 0);
}

TEST_F(TunerTest, FallsThroughTheSketchesToTheNaiveOne) {
  tasks_ = {TaskOf(Matmul(96))};
  ScriptedMeasurer measurer;
  measurer.fails = [](const std::string& schedule) { return schedule.contains("acc"); };
  const TuneReport report = Tuned(measurer);
  ASSERT_TRUE(report.progress.tasks[0].best_seconds);
  EXPECT_EQ(report.progress.tasks[0].best_seconds, ScriptedMeasurer::Seconds("lower direct\n"));
}

TEST_F(TunerTest, EveryTrialIsRecordedBeforeItIsReported) {
  ScriptedMeasurer measurer;
  int reports = 0;
  options_.on_progress = [&](const TuneProgress& progress) {
    if (progress.latest == nullptr) return;
    ++reports;
    const TuningKey key =
        MakeTuningKey(tasks_[progress.latest_task], options_.target, options_.accuracy);
    EXPECT_TRUE(*database_->Find(key, progress.latest->schedule));
    EXPECT_EQ(progress.measured, reports);
  };
  Tuned(measurer);
  EXPECT_EQ(reports, 40);
}

TEST_F(TunerTest, CancellingKeepsWhatWasMeasured) {
  ScriptedMeasurer measurer;
  int64_t measured = 0;
  options_.on_progress = [&](const TuneProgress& progress) { measured = progress.measured; };
  options_.cancelled = [&] { return measured >= 10; };
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.stop, TuneStop::kCancelled);
  EXPECT_GE(report.progress.trials, 10);
  EXPECT_LT(report.progress.trials, 40);
}

TEST_F(TunerTest, AnUnmeasurableTaskDoesNotStopTheOthers) {
  ScriptedMeasurer measurer;
  measurer.failure = MakeError(ErrorCode::kUnsupported, "no reference");
  const TuneReport report = Tuned(measurer);
  EXPECT_EQ(report.progress.measured, 2);
  EXPECT_NE(report.progress.tasks[0].problem, "");
  EXPECT_NE(report.progress.tasks[1].problem, "");
}

TEST_F(TunerTest, NothingMeasuredIsAnError) {
  class Silent : public Measurer {
    Status Measure(const Workload&, std::span<const CandidateRequest>,
                   const std::optional<Incumbent>&, const OnMeasured&) override {
      return Fail(ErrorCode::kInternal, "the worker died between candidates");
    }
    Status Compare(const Workload&, std::span<const CandidateRequest>, double,
                   const OnMeasured&) override {
      return {};
    }
  };
  const TuningParts parts{
      []() -> Result<std::unique_ptr<Measurer>> { return std::make_unique<Silent>(); }, Sketches};
  const Result<TuneReport> report = TuneWith(*database_, tasks_, options_, parts);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("nothing could be measured"));
  EXPECT_THAT(report.error().message, HasSubstr("the worker died between candidates"));
}

// The incumbent is the fastest candidate of all earlier batches.
TEST_F(TunerTest, BatchesAreMeasuredBesideTheIncumbent) {
  tasks_ = {TaskOf(Matmul(96), 1)};
  ScriptedMeasurer measurer;
  Tuned(measurer);
  std::optional<Incumbent> best;
  size_t measured = 0;
  for (size_t i = 0; i < measurer.batches.size(); ++i) {
    EXPECT_EQ(measurer.incumbents[i], best) << "batch " << i;
    for (size_t k = 0; k < measurer.batches[i]; ++k) {
      const std::string& schedule = measurer.order.at(measured++);
      const double seconds = ScriptedMeasurer::Seconds(schedule);
      if (!best || seconds < best->seconds) best = Incumbent{schedule, seconds};
    }
  }
  EXPECT_GE(measurer.batches.size(), 3u);
}

TEST_F(TunerTest, FinalistsAreComparedWithTheAnalyticSchedule) {
  ScriptedMeasurer measurer;
  Tuned(measurer);
  ASSERT_EQ(measurer.compared.size(), tasks_.size());
  const std::string analytic = Print(Sketches(tasks_[0]).front().Fill({1, 1, 1}));
  for (const auto& finalists : measurer.compared) {
    EXPECT_EQ(finalists.front(), analytic) << "the reference";
    EXPECT_GE(finalists.size(), 2u);
  }
  const TuningKey key = MakeTuningKey(tasks_[0], options_.target, {});
  const auto best = database_->Best(key);
  ASSERT_TRUE(best && *best);
  EXPECT_EQ(*database_->Chosen(key), (*best)->schedule);
  EXPECT_EQ((*best)->samples.size(), 7u) << "only the samples of the comparison";
  EXPECT_EQ((*best)->median_seconds, Median((*best)->samples));
}

// A lead that the comparison does not confirm is no reason to replace the analytic schedule.
TEST_F(TunerTest, AScheduleThatIsNotFasterBesideTheAnalyticOneIsNotChosen) {
  const std::string analytic = Print(Sketches(tasks_[0]).front().Fill({1, 1, 1}));
  ScriptedMeasurer measurer;
  measurer.compare = [&](const std::string& schedule) {
    const double equal = ScriptedMeasurer::Seconds(analytic) / ScriptedMeasurer::Seconds(schedule);
    return schedule == analytic ? equal : 1.001 * equal;
  };
  const TuneReport report = Tuned(measurer);
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const TuningKey key = MakeTuningKey(tasks_[i], options_.target, {});
    EXPECT_EQ(*database_->Chosen(key), analytic);
    EXPECT_EQ((*database_->Best(key))->schedule, analytic);
    EXPECT_NEAR(*report.progress.tasks[i].best_seconds, ScriptedMeasurer::Seconds(analytic), 1e-9);
  }
}

// A later call compares with the schedule that was chosen before.
TEST_F(TunerTest, TheEarlierChoiceIsTheReference) {
  ScriptedMeasurer measurer;
  Tuned(measurer);
  const std::string chosen = **database_->Chosen(MakeTuningKey(tasks_[0], options_.target, {}));
  options_.retune = {0};
  options_.trials = 8;
  measurer.compared.clear();
  Tuned(measurer);
  ASSERT_EQ(measurer.compared.size(), 1u);
  EXPECT_EQ(measurer.compared[0].front(), chosen);
}

// Each recorded time is the median of the recorded samples.
TEST_F(TunerTest, RecordedMediansAreThoseOfTheirSamples) {
  ScriptedMeasurer measurer;
  int compared = 0;
  measurer.compare = [&](const std::string&) { return 1 + 0.01 * compared++; };
  Tuned(measurer);
  for (const TuningTask& task : tasks_) {
    const auto trials = database_->Trials(MakeTuningKey(task, options_.target, {}));
    for (const TrialRecord& trial : *trials)
      EXPECT_EQ(trial.median_seconds, Median(trial.samples)) << trial.schedule;
  }
}

TEST_F(TunerTest, RankedSchedulesBeginWithTheRecordAndEndWithTheNaive) {
  ScriptedMeasurer measurer;
  Tuned(measurer);
  const auto ranked = RankSchedules(database_.get(), tasks_[0], options_);
  ASSERT_TRUE(ranked) << ranked.error().Format();
  EXPECT_TRUE(ranked->front().seconds);
  EXPECT_EQ(Print(ranked->back().schedule), "lower direct\n");
  const auto without = RankSchedules(nullptr, tasks_[0], options_);
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->front().seconds);
  options_.sketches = SketchSet::kNaiveOnly;
  const auto naive = RankSchedules(database_.get(), tasks_[0], options_);
  ASSERT_TRUE(naive);
  EXPECT_EQ(naive->size(), 1u);
  EXPECT_EQ(Print(naive->front().schedule), "lower direct\n");
}

TEST_F(TunerTest, TheBestScheduleIsLegal) {
  for (const TuningTask& task : {TaskOf(MatmulRelu()), TaskOf(SoftmaxRows())}) {
    const Result<Schedule> schedule = BestSchedule(nullptr, task, options_);
    ASSERT_TRUE(schedule) << schedule.error().Format();
    EXPECT_TRUE(test::LoopsOf(task.lowerings[0].compute, *schedule, ReductionOrder::kAny));
  }
}

// Runs a whole tuning, with the real worker process.
TEST_F(TunerTest, TunesARealTask) {
  tasks_ = {TaskOf(Matmul(96), 2), TaskOf(SoftmaxRows())};
  options_.trials = 12;
  options_.worker_path = std::string(TUNEC_BINARY_DIR) + "/bin/tunec-worker";
  const Result<TuneReport> report = Tune(*database_, tasks_, options_);
  ASSERT_TRUE(report) << report.error().Format();
  for (const TaskProgress& task : report->progress.tasks) {
    EXPECT_EQ(task.problem, "");
    EXPECT_TRUE(task.best_seconds);
  }
  EXPECT_LE(report->progress.trials, 12);
  for (const TuningTask& task : tasks_) {
    const auto trials = database_->Trials(MakeTuningKey(task, options_.target, options_.accuracy));
    ASSERT_TRUE(trials);
    for (const TrialRecord& trial : *trials) {
      EXPECT_EQ(trial.status, TrialStatus::kOk) << trial.message << "\n" << trial.schedule;
    }
  }
  const Result<TuneReport> again = Tune(*database_, tasks_, options_);
  ASSERT_TRUE(again);
  if (report->progress.trials == 12) {
    EXPECT_EQ(again->progress.measured, 0);
  }
}

}  // namespace
}  // namespace tunec
