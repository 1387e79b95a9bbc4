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

TEST(EarlierDatabase, NeedsNoNewTrials) {
  Database database = testing::InMemory();
  const std::string folder = TUNEC_TEST_DATA;
  const auto counts = database.ImportFile(folder + "/compiler/earlier_database.jsonl");
  ASSERT_TRUE(counts) << counts.error().Format();
  const auto graph =
      LoadModel(folder + "/../examples/small/residual_block.graph", {.random_weights = 1});
  ASSERT_TRUE(graph) << graph.error().Format();
  CompileOptions options = testing::Options();
  options.target = {.host = TunedHost()};
  options.trials = 12;
  const auto model = Compile(*graph, &database, options);
  ASSERT_TRUE(model) << model.error().Format();
  EXPECT_EQ(model->report.tuning.progress.measured, 0);
  ASSERT_EQ(model->report.kernels.size(), 2U);
  for (const KernelReport& kernel : model->report.kernels)
    EXPECT_EQ(kernel.sketch_source, "tuned") << kernel.name;
  if (!CheckRunsHere(options.target)) GTEST_SKIP() << "this processor lacks a feature of haswell";
  const auto error = testing::ErrorAgainstReference(*graph, *model->executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, testing::kTolerance);
}

}  // namespace
}  // namespace tunec
