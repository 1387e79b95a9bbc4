// Convolutions by Winograd's tiles through the whole compiler, as the tuner's records choose them.
#include <gtest/gtest.h>

#include "autotune/keys.h"
#include "compiler/front_end.h"
#include "compiler/tasks.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::ErrorAgainstReference;
using testing::GraphOf;
using testing::InMemory;
using testing::Options;

// Two of many channels, of an odd size, with a residual.
constexpr std::string_view kBlock = R"(graph block {
  input x: f32[2, 32, 15, 17]
  weight u: f32[48, 32, 3, 3]
  weight b: f32[48]
  weight v: f32[32, 48, 3, 3]
  c = conv(x, u, b) {pads=[1, 1, 1, 1]}
  r = relu(c)
  d = conv(r, v) {pads=[1, 1, 1, 1]}
  s = add(d, x)
  t = relu(s)
  output y = t
})";

// The schedules of a task that transform, as sketches begin with them.
std::vector<std::string> Transformed(const TuningTask& task, const CompileOptions& options) {
  std::vector<std::string> schedules;
  for (const Sketch& sketch : SketchesFor({.lowerings = task.lowerings,
                              .target = options.target,
                              .rounding = RoundingFreedomFor(options.accuracy)})) {
    const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
    if (schedule.lowering == "winograd") schedules.push_back(Print(schedule));
  }
  return schedules;
}

TEST(Winograd, FromRecordsIsWithinTheContract) {
  const Graph graph = GraphOf(kBlock);
  const CompileOptions options = Options();
  const auto front = RunFrontEnd(graph, options);
  ASSERT_TRUE(front) << front.error().Format();
  Database database = InMemory();
  int recorded = 0;
  for (const TuningTask& task : CollectTasks(*front, options.target).unique) {
    for (const std::string& schedule : Transformed(task, options)) {
      const TrialRecord record{.schedule = schedule, .median_seconds = 1e-6, .samples = {1e-6}};
      ASSERT_TRUE(
          database.RecordTrial(MakeTuningKey(task, options.target, options.accuracy), record));
      ++recorded;
    }
  }
  ASSERT_GE(recorded, 1);
  const auto model = Compile(graph, &database, options);
  ASSERT_TRUE(model) << model.error().Format();
  int found = 0;
  for (const KernelReport& kernel : model->report.kernels) {
    found += kernel.schedule.starts_with("lower winograd") ? 1 : 0;
  }
  EXPECT_EQ(found, recorded);
  const auto error = ErrorAgainstReference(graph, *model->executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, 2e-6);
}

TEST(Winograd, IsNoChoiceWhereSumsAreExact) {
  CompileOptions options = Options();
  options.accuracy = *ParseAccuracy("exact");
  const auto front = RunFrontEnd(GraphOf(kBlock), options);
  ASSERT_TRUE(front) << front.error().Format();
  for (const TuningTask& task : CollectTasks(*front, options.target).unique) {
    EXPECT_GT(task.lowerings.size(), 1U);
    EXPECT_TRUE(Transformed(task, options).empty());
  }
}

}  // namespace
}  // namespace tunec
