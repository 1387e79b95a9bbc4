#include "autotune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "autotune/tune_with.h"
#include "schedule/apply.h"
#include "support/random.h"
#include "tests/autotune/workloads.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using testing::MatmulRelu;
using testing::Parsed;
using testing::SoftmaxRows;
using testing::TaskOf;

// Times that depend on the schedule's text alone.
class ScriptedMeasurer : public Measurer {
 public:
  Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                 std::optional<double>, const OnMeasured& on_measured) override {
    batches.push_back(candidates.size());
    for (size_t i = candidates.size(); i-- > 0;) {  // not in the order asked
      const std::string& schedule = candidates[i].schedule;
      EXPECT_TRUE(seen.insert(Print(workload.lowerings[0].compute) + schedule).second)
          << "measured twice: " << schedule;
      order.push_back(schedule);
      if (Status status = on_measured(i, Outcome(schedule)); !status) return status;
    }
    return failure ? Status(std::unexpected(*failure)) : Status();
  }
  Status Retime(const Workload&, std::span<const CandidateRequest> candidates, int rounds,
                const OnMeasured& on_measured) override {
    retimed += candidates.size();
    for (size_t i = 0; i < candidates.size(); ++i) {
      Measurement again = Outcome(candidates[i].schedule);
      again.samples.assign(rounds, again.samples.at(0));
      if (Status status = on_measured(i, again); !status) return status;
    }
    return {};
  }
  static double Seconds(const std::string& schedule) {
    return 1e-3 * (1 + static_cast<double>(StreamSeed(0, schedule) % 1000) / 1000);
  }
  Measurement Outcome(const std::string& schedule) const {
    if (fails && fails(schedule)) {
      return {.status = TrialStatus::kWrongResult, .message = "planted"};
    }
    return {.samples = std::vector<double>(3, Seconds(schedule)),
            .compile_ms = 10,
            .check_ms = 2,
            .measure_ms = 5};
  }

  std::function<bool(const std::string&)> fails;
  std::optional<Error> failure;
  std::set<std::string> seen;
  std::vector<std::string> order;
  std::vector<size_t> batches;
  size_t retimed = 0;
};

// The tests keep the measurer.
class Borrowed : public Measurer {
 public:
  explicit Borrowed(Measurer& measurer) : measurer_(measurer) {}
  Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                 std::optional<double> best_seconds, const OnMeasured& on_measured) override {
    return measurer_.Measure(workload, candidates, best_seconds, on_measured);
  }
  Status Retime(const Workload& workload, std::span<const CandidateRequest> candidates, int rounds,
                const OnMeasured& on_measured) override {
    return measurer_.Retime(workload, candidates, rounds, on_measured);
  }

 private:
  Measurer& measurer_;
};

Compute Matmul(int64_t n) {
  return Parsed(fmt::format(R"(
    compute matmul {{
      input A: f32[64, {0}]
      weight B: f32[{0}, 128] constant
      output C: f32[64, 128]
      acc[i: 64, j: 128, k: {0} reduction]:
        C[i, j] sum= A[i, k] * B[k, j]
    }})",
                            n));
}

class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    options_.target = DetectCpu(2);
    options_.trials = 40;
    options_.seed = 3;
  }
  // A space of its own: these tests are of the search, not of the sketches.
  static std::vector<Sketch> Sketches(const TuningTask&) {
    const auto unroll = [](const std::string& loop, int64_t factor) {
      return UnrollStep{loop, static_cast<int>(factor)};
    };
    Sketch main{.name = "main"};
    for (const char* name : {"i", "j", "k"}) main.knobs.push_back({name, {1, 2, 4, 8}, 1});
    main.fill = [unroll](const std::vector<int64_t>& v) {
      return Schedule{"direct",
                      {unroll("acc.i", v[0]), unroll("acc.j", v[1]), unroll("acc.k", v[2])}};
    };
    Sketch other{.name = "other", .knobs = {{"factor", {16, 32, 64}, 0}}};
    other.fill = [unroll](const std::vector<int64_t>& v) {
      return Schedule{"direct", {unroll("acc.k", v[0])}};
    };
    Sketch naive{.name = "naive"};
    naive.fill = [](const std::vector<int64_t>&) { return Schedule{.lowering = "direct"}; };
    return {main, other, naive};
  }
  static std::vector<Sketch> SketchesAndOneMore(const TuningTask& task) {
    std::vector<Sketch> sketches = Sketches(task);
    Sketch added{.name = "added", .knobs = {{"factor", {3, 5}, 0}}};
    added.fill = [](const std::vector<int64_t>& v) {
      return Schedule{"direct", {UnrollStep{"acc.i", static_cast<int>(v[0])}}};
    };
    sketches.insert(sketches.begin() + 1, added);
    return sketches;
  }
  TuneReport Tuned(ScriptedMeasurer& measurer, const SketchSource& sketches = Sketches) {
    const TuningParts parts{
        [&]() -> Result<std::unique_ptr<Measurer>> { return std::make_unique<Borrowed>(measurer); },
        sketches};
    Result<TuneReport> report = TuneWith(*database_, tasks_, options_, parts);
    if (!report) ADD_FAILURE() << report.error().Format();
    return report ? *report : TuneReport{};
  }
  int64_t Recorded(const TuningTask& task) {
    return *database_->CountTrials(MakeTuningKey(task, options_.target, options_.accuracy));
  }

  std::unique_ptr<Database> database_ =
      std::make_unique<Database>(*Database::Open(":memory:", OpenMode::kReadWrite));
  std::vector<TuningTask> tasks_ = {TaskOf(Matmul(96), 2), TaskOf(Matmul(160), 1)};
  TunerOptions options_;
};

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

TEST_F(TunerTest, RecordedTrialsCountAndAreNotRepeated) {
  ScriptedMeasurer measurer;  // fails the test when asked twice
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
  // Every candidate of the two sketches, but not the naive one, which nothing called for.
  EXPECT_LE(report.progress.measured, 2 * 67);
  EXPECT_GT(report.progress.measured, 67);
  EXPECT_EQ(std::ranges::count(measurer.order, "lower direct\n"), 0);
  EXPECT_TRUE(report.progress.tasks[0].converged);
  EXPECT_GT(*database_->ConvergedSpace(MakeTuningKey(tasks_[0], options_.target, {})), 0);
  EXPECT_EQ(Tuned(measurer).progress.measured, 0);
}

TEST_F(TunerTest, ASketchAddedLaterIsTriedOnConvergedTasks) {
  options_.trials = 1000;
  ScriptedMeasurer measurer;
  Tuned(measurer);
  measurer.order.clear();
  const TuneReport report = Tuned(measurer, SketchesAndOneMore);
  EXPECT_EQ(report.progress.measured, 2 * 2);  // two tasks, the two choices of the new sketch
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
  EXPECT_TRUE(report.cancelled);
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

TEST_F(TunerTest, TheBestAreTimedAgain) {
  ScriptedMeasurer measurer;
  Tuned(measurer);
  EXPECT_GE(measurer.retimed, 2u);
  const auto best = database_->Best(MakeTuningKey(tasks_[0], options_.target, {}));
  ASSERT_TRUE(best && *best);
  EXPECT_GT((*best)->samples.size(), 3u);
  EXPECT_NEAR((*best)->median_seconds, ScriptedMeasurer::Seconds((*best)->schedule), 1e-9);
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
    EXPECT_TRUE(ApplySchedule(task.lowerings[0].compute, *schedule, ReductionOrder::kAny));
  }
}

// End to end, with the worker.
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
