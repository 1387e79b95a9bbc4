// Tests of Winograd convolutions in the compiler. In most tests, trials in a database make the
// compiler choose the Winograd lowering.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "autotune/keys.h"
#include "compiler/front_end.h"
#include "compiler/tuning/tasks.h"
#include "jit/cpu/detect_cpu.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::ErrorAgainstReference;
using testing::GraphOf;
using testing::InMemory;
using testing::Options;

// A graph with two convolutions and a residual addition. Image heights and widths are odd.
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

// Returns the schedules of the task's sketches for the lowering `name`, with initial decisions.
std::vector<std::string> ForLowering(const std::string& name, const TuningTask& task,
                                     const CompileOptions& options) {
  std::vector<std::string> schedules;
  for (const Sketch& sketch : SketchesFor({.lowerings = task.lowerings,
                              .target = options.target,
                              .rounding = RoundingFreedomFor(options.accuracy)})) {
    const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
    if (schedule.lowering == name) schedules.push_back(Print(schedule));
  }
  return schedules;
}

// Records a trial for each schedule of ForLowering, in each task. Returns the number of trials.
int Record(const FrontReport& front, const std::string& lowering, const CompileOptions& options,
           Database& database) {
  int recorded = 0;
  for (const TuningTask& task : CollectTasks(front, options.target).unique) {
    for (const std::string& schedule : ForLowering(lowering, task, options)) {
      const TrialRecord record{.schedule = schedule, .median_seconds = 1e-6, .samples = {1e-6}};
      EXPECT_TRUE(
          database.RecordTrial(MakeTuningKey(task, options.target, options.accuracy), record));
      ++recorded;
    }
  }
  return recorded;
}

// Compiles the graph with a database that has trials of this lowering only. Expects that as many
// kernels use the lowering as there are trials.
Result<CompiledModel> FromRecords(const Graph& graph, const std::string& lowering,
                                  const CompileOptions& options) {
  const auto front = RunFrontEnd(graph, options);
  EXPECT_TRUE(front) << front.error().Format();
  Database database = InMemory();
  const int recorded = Record(*front, lowering, options, database);
  EXPECT_GE(recorded, 1);
  auto model = Compile(graph, &database, options);
  EXPECT_TRUE(model) << model.error().Format();
  int found = 0;
  for (const KernelReport& kernel : model->report.kernels) {
    found += kernel.schedule.starts_with("lower " + lowering + "\n") ? 1 : 0;
  }
  EXPECT_EQ(found, recorded);
  return model;
}

double ErrorFromRecords(const std::string& lowering, const CompileOptions& options) {
  const Graph graph = GraphOf(kBlock);
  const auto model = FromRecords(graph, lowering, options);
  const auto error = ErrorAgainstReference(graph, *model->executable);
  EXPECT_TRUE(error) << error.error().Format();
  return *error;
}

CompileOptions Under(const std::string& accuracy, const std::string& cpu = "native") {
  CompileOptions options = Options();
  options.accuracy = *ParseAccuracy(accuracy);
  options.target = *ParseCpu(cpu, 2);
  return options;
}

TEST(Winograd, FromRecordsIsWithinTheContract) {
  EXPECT_LT(ErrorFromRecords("winograd", Options()), 2e-6);
}

TEST(Winograd, OfFourOutputsFromRecordsIsWithinTheContract) {
  EXPECT_LT(ErrorFromRecords("winograd,tile=4", Under("1e-3")), 1e-5);
}

TEST(Winograd, OfFourOutputsRunsOnVectorsOfEight) {
  EXPECT_LT(ErrorFromRecords("winograd,tile=4", Under("1e-3", "native,-avx512f")), 1e-5);
}

// Only some accuracy modes allow the error of tiles with 4x4 outputs.
TEST(Winograd, OfFourOutputsIsForLooserContracts) {
  const auto offered = [](const std::string& accuracy) {
    const CompileOptions options = Under(accuracy);
    const auto front = RunFrontEnd(GraphOf(kBlock), options);
    EXPECT_TRUE(front) << front.error().Format();
    size_t schedules = 0;
    for (const TuningTask& task : CollectTasks(*front, options.target).unique)
      schedules += ForLowering("winograd,tile=4", task, options).size();
    return schedules > 0;
  };
  for (const char* tight : {"exact", "f32", "1e-7", "1e-5"}) EXPECT_FALSE(offered(tight)) << tight;
  for (const char* loose : {"1e-3", "0.01", "tf32", "bf16"}) EXPECT_TRUE(offered(loose)) << loose;
}

// A position in an image. A 3x3 window contains the positions whose DistanceTo its center is at
// most 1.
struct Pixel {
  int64_t row = 0;
  int64_t column = 0;

  int64_t DistanceTo(const Pixel& other) const {
    return std::max(std::abs(row - other.row), std::abs(column - other.column));
  }
};

// Expects that elements of `with` in the first image are not finite where the window contains
// `pixel`. All other elements must equal those of `without`. Both arrays have the axes batch,
// channels, rows and columns.
void ExpectOnlyWindowsOf(const Pixel& pixel, const Array& without, const Array& with) {
  const std::vector<int64_t>& shape = with.shape();
  for (int64_t i = 0; i < with.size(); ++i) {
    const Pixel at{i / shape[3] % shape[2], i % shape[3]};
    const bool is_first = i < shape[1] * shape[2] * shape[3];
    if (is_first && at.DistanceTo(pixel) <= 1) {
      EXPECT_FALSE(std::isfinite(with.GetDouble(i))) << at.row << ", " << at.column;
    } else {
      EXPECT_EQ(with.GetDouble(i), without.GetDouble(i)) << at.row << ", " << at.column;
    }
  }
}

// Each run has an infinity or a NaN at one position, which is in a tile or at an image corner.
TEST(Winograd, OfTwoOutputsKeepsAnInfinityInItsWindows) {
  const Graph graph = GraphOf(R"(graph conv {
  input x: f32[2, 64, 15, 17]
  weight w: f32[64, 64, 3, 3]
  c = conv(x, w) {pads=[1, 1, 1, 1]}
  output y = c
})");
  const auto model = FromRecords(graph, "winograd", Options());
  ASSERT_TRUE(model);
  const auto inputs = [&] { return testing::SomeInputs(*model->executable); };
  const auto without = testing::RunOnce(*model->executable, inputs());
  ASSERT_TRUE(without) << without.error().Format();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> specials = {kInfinity, -kInfinity, std::nan("")};
  size_t special = 0;
  for (const Pixel pixel :
       {Pixel{0, 0}, Pixel{14, 16}, Pixel{6, 8}, Pixel{6, 9}, Pixel{7, 8}, Pixel{7, 9}}) {
    std::vector<Array> spoiled = inputs();
    spoiled[0].SetDouble((3 * 15 + pixel.row) * 17 + pixel.column, specials[special++ % 3]);
    const auto with = testing::RunOnce(*model->executable, spoiled);
    ASSERT_TRUE(with) << with.error().Format();
    ExpectOnlyWindowsOf(pixel, without->front(), with->front());
  }
}

TEST(Winograd, IsNoChoiceWhereSumsAreExact) {
  CompileOptions options = Options();
  options.accuracy = *ParseAccuracy("exact");
  const auto front = RunFrontEnd(GraphOf(kBlock), options);
  ASSERT_TRUE(front) << front.error().Format();
  for (const TuningTask& task : CollectTasks(*front, options.target).unique) {
    EXPECT_GT(task.lowerings.size(), 1U);
    EXPECT_TRUE(ForLowering("winograd", task, options).empty());
  }
}

}  // namespace
}  // namespace tunec
