// Tests of Compile that measure trials or use stored trials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "autotune/keys.h"
#include "compiler/tuning/tasks.h"
#include "jit/cpu/detect_cpu.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::ErrorAgainstReference;
using testing::GraphOf;
using ::testing::HasSubstr;
using testing::InMemory;
using ::testing::IsEmpty;
using testing::kConvRelu;
using testing::kTolerance;
using testing::Options;

constexpr int kTrials = 12;

// A graph like kConvRelu with other names, followed by a pool. The result of the first group is an
// output, as in kConvRelu, so both models store it in the same layout.
constexpr std::string_view kConvReluPool = R"(graph other {
  input image: f32[1, 5, 13, 11]
  weight filter: f32[7, 5, 3, 3]
  weight offset: f32[7]
  conv_1 = conv(image, filter, offset) {pads=[1, 1, 1, 1]}
  rectified = relu(conv_1)
  pooled = max_pool(rectified) {kernel=[2, 2], strides=[2, 2]}
  output features = rectified
  output result = pooled
})";

CompileOptions Tuned(int trials = kTrials) {
  CompileOptions options = Options(1);
  options.trials = trials;
  return options;
}

void ExpectRight(const Graph& graph, const CompiledModel& model) {
  const auto error = ErrorAgainstReference(graph, *model.executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, kTolerance);
}

TEST(Tuning, ThenNothingIsMeasuredAgain) {
  const Graph graph = GraphOf(kConvRelu);
  Database database = InMemory();
  const auto first = Compile(graph, &database, Tuned());
  ASSERT_TRUE(first) << first.error().Format();
  EXPECT_GT(first->report.tuning.progress.measured, 0);
  EXPECT_LE(first->report.tuning.progress.measured, kTrials);
  EXPECT_EQ(database.Stats()->trials, first->report.tuning.progress.measured);
  ASSERT_EQ(first->report.kernels.size(), 1u);
  EXPECT_EQ(first->report.kernels[0].sketch_source, "tuned");
  // The executable runs the very object that the worker checked and timed, unless the kernel does
  // not gain in the model. Then the analytic schedule is compiled.
  const auto& in_model = first->report.in_model;
  const int restored = in_model ? in_model->restored : 0;
  EXPECT_EQ(first->report.objects_compiled, restored);
  EXPECT_EQ(first->report.objects_reused, 1 - restored);
  ExpectRight(graph, *first);

  const auto second = Compile(graph, &database, Tuned());
  ASSERT_TRUE(second) << second.error().Format();
  EXPECT_EQ(second->report.tuning.progress.measured, 0);
  EXPECT_EQ(second->report.objects_compiled, 0);
  EXPECT_EQ(second->report.kernels[0].schedule, first->report.kernels[0].schedule);
  ExpectRight(graph, *second);
}

TEST(Tuning, EveryTrialSaysWhatMeasuredIt) {
  Database database = InMemory();
  ASSERT_TRUE(Compile(GraphOf(kConvRelu), &database, Tuned(3)));
  const auto tasks = database.ListTrials({});
  ASSERT_TRUE(tasks) << tasks.error().Format();
  ASSERT_EQ(tasks->size(), 1u);
  EXPECT_FALSE(tasks->front().trials.empty());
  for (const TrialRecord& trial : tasks->front().trials) {
    EXPECT_THAT(trial.tool_version, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  }
}

TEST(Tuning, ALargerBudgetMeasuresOnlyTheRest) {
  const Graph graph = GraphOf(kConvRelu);
  Database database = InMemory();
  ASSERT_TRUE(Compile(graph, &database, Tuned(4)));
  EXPECT_LE(database.Stats()->trials, 4);
  const auto more = Compile(graph, &database, Tuned(9));
  ASSERT_TRUE(more) << more.error().Format();
  EXPECT_LE(more->report.tuning.progress.measured, 5);
  EXPECT_EQ(database.Stats()->trials, more->report.tuning.progress.trials);
}

TEST(Tuning, AnotherModelFindsTheGroupItShares) {
  Database database = InMemory();
  const auto first = Compile(GraphOf(kConvRelu), &database, Tuned());
  ASSERT_TRUE(first) << first.error().Format();
  const Graph other = GraphOf(kConvReluPool);
  const auto second = Compile(other, &database, Tuned(0));
  ASSERT_TRUE(second) << second.error().Format();
  ASSERT_EQ(second->report.kernels.size(), 2u);
  EXPECT_EQ(second->report.kernels[0].workload, first->report.kernels[0].workload);
  EXPECT_EQ(second->report.kernels[0].sketch_source, "tuned");
  EXPECT_EQ(second->report.kernels[0].schedule, first->report.kernels[0].schedule);
  EXPECT_EQ(second->report.kernels[1].sketch_source, "analytic");
  EXPECT_EQ(second->report.objects_reused, 1);
  ExpectRight(other, *second);

  // Trials of the shared group count for this model's budget, up to the group's share.
  const auto third = Compile(other, &database, Tuned(4));
  ASSERT_TRUE(third) << third.error().Format();
  EXPECT_GE(third->report.tuning.progress.measured, 1);
  EXPECT_LE(third->report.tuning.progress.measured, 2);
}

// The expected log lines about trials under another key. `compiled` is the line of a model that is
// only compiled, and `tuned` is the line of a tuned model.
struct Lines {
  std::string compiled;
  std::string tuned;
  std::string source = "tuned";  // sketch_source of the model that is only compiled
};
Lines OfEarlier(const std::string& how) {
  const std::string line = "groups measured " + how + ": 1 of 1; the fastest schedule of each is ";
  return {.compiled = line + "used until it is measured again",
          .tuned = line + "measured again first"};
}

// Records a trial under the key from `key_before` only. Expects that compiling uses the schedule
// of this trial. Tuning must measure the schedule again under the present key.
void ExpectMeasuredAgain(const Graph& graph, CompileOptions options,
                         const std::function<TuningKey(const TuningTask&, TuningKey)>& key_before,
                         const Lines& lines) {
  Database database = InMemory();
  const auto front = RunFrontEnd(graph, options);
  ASSERT_TRUE(front) << front.error().Format();
  const TuningTask task = CollectTasks(*front, options.target).unique.at(0);
  const TuningKey before = key_before(task, MakeTuningKey(task, options.target, options.accuracy));
  const Sketch sketch = SketchesFor({.lowerings = task.lowerings,
                                     .target = options.target,
                                     .rounding = RoundingFreedomFor(options.accuracy)})[0];
  Decisions decisions = sketch.InitialDecisions();
  decisions[0] = decisions[0] == 0 ? 1 : 0;
  TrialRecord trial{.schedule = Print(sketch.Fill(decisions))};
  trial.samples = {1e-6};
  trial.median_seconds = 1e-6;
  trial.note = fmt::format("sketch={}/{}", task.lowerings[0].name, sketch.name);
  for (size_t k = 0; k < sketch.knobs.size(); ++k)
    trial.note +=
        fmt::format(" {}={}", sketch.knobs[k].name, sketch.knobs[k].choices[decisions[k]]);
  trial.note += " by=evolution seed=0";
  ASSERT_TRUE(database.RecordTrial(before, trial));

  std::vector<std::string> notes;
  options.on_log = [&](const std::string& line) { notes.push_back(line); };
  const auto untuned = Compile(graph, &database, options);
  ASSERT_TRUE(untuned) << untuned.error().Format();
  EXPECT_EQ(untuned->report.kernels[0].schedule, trial.schedule);
  EXPECT_THAT(notes, ::testing::ElementsAre(lines.compiled));

  notes.clear();
  options.trials = 1;
  const auto tuned = Compile(graph, &database, options);
  ASSERT_TRUE(tuned) << tuned.error().Format();
  EXPECT_THAT(notes, ::testing::ElementsAre(lines.tuned));
  const auto now = database.Trials(MakeTuningKey(task, options.target, options.accuracy));
  ASSERT_EQ(now->size(), 1u);
  EXPECT_EQ(now->front().schedule, trial.schedule);
  EXPECT_THAT(now->front().note, HasSubstr(" by=remeasured "));
  EXPECT_EQ(database.Trials(before)->size(), 1u);
  EXPECT_EQ(tuned->report.kernels[0].sketch_source, "tuned");
  EXPECT_EQ(untuned->report.kernels[0].sketch_source, lines.source);
}

TEST(Tuning, MeasuresWhatAnEarlierPolicyFoundAgain) {
  const auto warm = [](const TuningTask&, TuningKey key) {
    key.policy = "warm, median of adaptive repeats v1";
    return key;
  };
  ExpectMeasuredAgain(GraphOf(kConvRelu), Tuned(0), warm,
                      OfEarlier("under another policy (warm, median of adaptive repeats v1)"));
}

// Earlier versions wrote workload texts without marks of finite tensors.
TEST(Tuning, MeasuresWhatWasFoundForWeightsOfAnyNumbersAgain) {
  CompileOptions options = Tuned(0);
  if (!options.target.Has("avx512f")) GTEST_SKIP() << "a machine without AVX-512";
  options.target = *ParseCpu("native,+amx-emulated", 2);
  const auto unmarked = [](const TuningTask& task, TuningKey key) {
    EXPECT_THAT(key.workload.text, HasSubstr(" finite"));
    key.workload.text = EarlierWorkloadText(task).value_or("");
    EXPECT_THAT(key.workload.text, ::testing::Not(HasSubstr(" finite")));
    return key;
  };
  ExpectMeasuredAgain(GraphOf(kConvRelu), options, unmarked,
                      OfEarlier("before weights were known to be finite"));
}

// A virtual machine may report other cache sizes than its host.
TEST(Tuning, StartsWithWhatIsTunedForOtherCaches) {
  const auto other_cache = [](const TuningTask& task, TuningKey) {
    Target target = Tuned(0).target;
    target.host.l3_bytes = 12345;
    return MakeTuningKey(task, target, {});
  };
  const std::string line = fmt::format(
      "groups tuned for l3=12345, not for l3={}: 1 of 1; the fastest schedule of each is ",
      Tuned(0).target.host.l3_bytes);
  ExpectMeasuredAgain(
      GraphOf(kConvRelu), Tuned(0), other_cache,
      {line + "used until it is measured here", line + "measured here first", "near"});
}

TEST(Tuning, SaysForWhichOthersAModelIsTuned) {
  Database database = InMemory();
  ASSERT_TRUE(Compile(GraphOf(kConvRelu), &database, Tuned(4)));
  CompileOptions options = Options(2);
  std::vector<std::string> notes;
  options.on_log = [&](const std::string& line) { notes.push_back(line); };
  const auto two = Compile(GraphOf(kConvRelu), &database, options);
  ASSERT_TRUE(two) << two.error().Format();
  EXPECT_THAT(notes, ::testing::Contains(
                         "groups tuned for threads=1, not for threads=2: 1 of 1; the fastest "
                         "schedule of each is used until it is measured here"));
  EXPECT_EQ(Describe(two->report.known), "groups tuned: none of 1");
  const auto one = Compile(GraphOf(kConvRelu), &database, Tuned(0));
  ASSERT_TRUE(one) << one.error().Format();
  EXPECT_THAT(Describe(one->report.known), HasSubstr("groups tuned: 1 of 1 ("));
  EXPECT_EQ(one->report.known.elsewhere, "");
}

TEST(Tuning, GroupsAreTakenUpAgainByNumberOrName) {
  Database database = InMemory();
  const Graph graph = GraphOf(kConvReluPool);
  ASSERT_TRUE(Compile(graph, &database, Tuned(4)));
  for (const char* group : {"1", "pooled"}) {
    CompileOptions options = Tuned(2);
    options.retune = {group};
    const auto again = Compile(graph, &database, options);
    ASSERT_TRUE(again) << again.error().Format();
    EXPECT_EQ(again->report.tuning.progress.tasks[0].measured, 0);
  }
  CompileOptions options = Tuned(2);
  options.retune = {"nobody"};
  EXPECT_EQ(Compile(graph, &database, options).error().code, ErrorCode::kInvalidArgument);
  options.retune = {"all"};
  options.trials = 0;
  EXPECT_EQ(Compile(graph, &database, options).error().code, ErrorCode::kInvalidArgument);
}

TEST(Tuning, HoldsForItsOwnThreadsAccuracyAndCpu) {
  const Graph graph = GraphOf(kConvRelu);
  Database database = InMemory();
  ASSERT_TRUE(Compile(graph, &database, Tuned(4)));
  CompileOptions two_threads = Options(2);
  CompileOptions exact = Options(1);
  exact.accuracy.mode = AccuracyMode::kExact;
  for (const CompileOptions& options : {two_threads, exact}) {
    const auto model = Compile(graph, &database, options);
    ASSERT_TRUE(model) << model.error().Format();
    EXPECT_NE(model->report.kernels[0].sketch_source, "tuned") << "at most a near schedule";
    EXPECT_EQ(model->report.objects_reused, 0);
    ExpectRight(graph, *model);
  }
}

// Even with a budget of no trials, Compile does not use an analytic schedule that failed earlier.
TEST(Tuning, AFailedAnalyticScheduleIsNotUsedInSilence) {
  const Graph graph = GraphOf(kConvRelu);
  Database database = InMemory();
  CompileOptions options = Tuned(0);
  std::vector<std::string> log;
  options.on_log = [&](const std::string& line) { log.push_back(line); };
  const auto before = Compile(graph, &database, options);
  ASSERT_TRUE(before) << before.error().Format();
  EXPECT_EQ(before->report.kernels[0].sketch_source, "analytic");
  EXPECT_THAT(log, IsEmpty());

  const auto front = RunFrontEnd(graph, options);
  ASSERT_TRUE(front) << front.error().Format();
  const ModelTasks tasks = CollectTasks(*front, options.target);
  const TuningKey key = MakeTuningKey(tasks.unique[0], options.target, options.accuracy);
  const TrialRecord wrong{.status = TrialStatus::kWrongResult,
                          .schedule = before->report.kernels[0].schedule,
                          .samples = {0.002},
                          .message = "planted"};
  ASSERT_TRUE(database.RecordTrial(key, wrong));
  const auto after = Compile(graph, &database, options);
  ASSERT_TRUE(after) << after.error().Format();
  EXPECT_NE(after->report.kernels[0].schedule, before->report.kernels[0].schedule);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_THAT(log[0], HasSubstr("the analytic schedule is not used (wrong result: planted)"));
  EXPECT_EQ(after->report.kernels[0].notes, log);

  const TrialRecord naive{.schedule = "lower direct\n", .median_seconds = 0.04, .samples = {0.04}};
  ASSERT_TRUE(database.RecordTrial(key, naive));
  const auto slow = Compile(graph, &database, options);
  ASSERT_TRUE(slow) << slow.error().Format();
  EXPECT_EQ(slow->report.kernels[0].sketch_source, "naive");
  EXPECT_THAT(log.back(),
              HasSubstr("but a naive one; it takes 40 ms, the other took 2 ms in one run"));
}

TEST(Tuning, CancelledKeepsWhatWasMeasured) {
  const Graph graph = GraphOf(kConvRelu);
  Database database = InMemory();
  int64_t measured = 0;
  CompileOptions options = Tuned(100000);
  options.on_progress = [&](const TuneProgress& progress) { measured = progress.measured; };
  options.cancelled = [&] { return measured >= 3; };
  const auto model = Compile(graph, &database, options);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kCancelled) << model.error().Format();
  EXPECT_GE(measured, 3);
  EXPECT_EQ(database.Stats()->trials, measured);
  EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
}

TEST(Tuning, CancelledBeforeAnythingIsCancelled) {
  Database database = InMemory();
  CompileOptions options = Tuned();
  options.cancelled = [] { return true; };
  const auto tuning = Compile(GraphOf(kConvRelu), &database, options);
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.error().code, ErrorCode::kCancelled);
  options.trials = 0;
  const auto compiling = Compile(GraphOf(kConvRelu), nullptr, options);
  ASSERT_FALSE(compiling);
  EXPECT_EQ(compiling.error().code, ErrorCode::kCancelled);
}

TEST(Tuning, TrialsNeedADatabaseAndAWorker) {
  const auto homeless = Compile(GraphOf(kConvRelu), nullptr, Tuned());
  ASSERT_FALSE(homeless);
  EXPECT_EQ(homeless.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(homeless.error().message, HasSubstr("database"));

  Database database = InMemory();
  CompileOptions options = Tuned();
  options.worker_path = "/nowhere/tunec-worker";
  const auto workerless = Compile(GraphOf(kConvRelu), &database, options);
  ASSERT_FALSE(workerless);
  EXPECT_THAT(workerless.error().message, HasSubstr("/nowhere/tunec-worker"));
}

}  // namespace
}  // namespace tunec
