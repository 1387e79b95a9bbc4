// Tests that an earlier version's tuning results are still used. earlier_database.jsonl is the
// export of commit 271ee274 after 12 trials of examples/small/residual_block.graph. Renamed
// lowerings or steps would make the file's schedules unusable.
#include <gtest/gtest.h>

#include "device/open_device.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

// Returns the host for which the file's results were measured.
Host TunedHost() {
  return {.cpu = "haswell",
          .features = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma"},
          .vector_bits = 256,
          .vector_registers = 16,
          .l1_bytes = 32768,
          .l2_bytes = 524288,
          .l3_bytes = 33554432,
          .cores = 2,
          .threads = 1};
}

class EarlierDatabase : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = TUNEC_TEST_DATA;
    const auto counts =
        database_.ImportFile(folder + "/compiler/earlier_database.jsonl", TimesFrom::kThisMachine);
    ASSERT_TRUE(counts) << counts.error().Format();
    const auto graph =
        LoadModel(folder + "/../examples/small/residual_block.graph", {.random_weights = 1});
    ASSERT_TRUE(graph) << graph.error().Format();
    graph_ = *graph;
    options_.target = {.host = TunedHost()};
  }

  Database database_ = testing::InMemory();
  Graph graph_;
  CompileOptions options_ = testing::Options();
};

// Without trials, the schedules that were fastest then are used.
TEST_F(EarlierDatabase, IsUsedWithoutTrials) {
  const auto model = Compile(graph_, &database_, options_);
  ASSERT_TRUE(model) << model.error().Format();
  ASSERT_EQ(model->report.kernels.size(), 2U);
  for (const KernelReport& kernel : model->report.kernels)
    EXPECT_EQ(kernel.sketch_source, "tuned") << kernel.name;
  EXPECT_EQ(model->report.known.earlier, 2);
  if (!CheckRunsHere(options_.target)) GTEST_SKIP() << "this processor lacks a feature of haswell";
  const auto error = testing::ErrorAgainstReference(graph_, *model->executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, testing::kTolerance);
}

// A search measures the fastest schedules of then first. Their times of then do not count.
TEST_F(EarlierDatabase, GivesSeeds) {
  if (!CheckRunsHere(options_.target)) GTEST_SKIP() << "this processor lacks a feature of haswell";
  options_.trials = 6;
  std::vector<std::string> notes;
  options_.on_progress = [&](const TuneProgress& progress) {
    if (progress.latest != nullptr) notes.push_back(progress.latest->note);
  };
  const auto model = Compile(graph_, &database_, options_);
  ASSERT_TRUE(model) << model.error().Format();
  EXPECT_EQ(model->report.tuning.progress.measured, 6);
  ASSERT_GE(notes.size(), 2u);
  EXPECT_TRUE(notes[0].contains(" by=remeasured ")) << notes[0];
  EXPECT_TRUE(notes[1].contains(" by=remeasured ")) << notes[1];
  for (const TaskProgress& task : model->report.tuning.progress.tasks) EXPECT_GT(task.trials, 0);
}

}  // namespace
}  // namespace tunec
