// Tests of the code for schedules with `pad`. The example matmul_padded and a convolution run on
// this machine and on an emulated GPU. The example is also compiled for real GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/compile_kernel.h"
#include "kernel/run_once.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/examples.h"
#include "tests/programs/operators.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec {
namespace {

Schedule ExampleSchedule() {
  return *ParseSchedule(test::ReadExample("matmul_padded.sched"), "example");
}

// Runs a schedule's code. Returns an error, how the results differ from the Compute's, or an empty
// string.
std::string Disagreement(std::string_view compute, const Schedule& schedule, const Target& target) {
  const test::ScheduleChecker checker(test::MustParse(compute));
  const auto kernel = test::LoopsOf(checker.compute(), schedule, ReductionOrder::kAny);
  if (!kernel) return kernel.error().message;
  ThreadPool pool(2);
  return checker.Disagreement(*kernel,
                              [&](const LoopNest& nest, const std::vector<Array>& arguments) {
                                return CompileAndRun(nest, arguments, target, pool);
                              });
}

// The steps that schedule a convolution on a CPU with padded extents. The sum has whole vectors
// of output channels, and no conditions.
constexpr std::string_view kConvSteps =
    "pack X 0 2 3 1\npack W 1 2 3 0\npad acc m 8 ic 4 ow 4\nsplit acc.m 8\nsplit acc.ow 4\n"
    "reorder acc.m.0 acc.oh acc.ow.0 acc.ic acc.kh acc.kw acc.ow.1 acc.m.1\n"
    "compute_at acc.init acc.ow.0\ncompute_at Y acc.ow.0\nstage acc register acc.ow.0\n"
    "unroll acc.ow.1\nvectorize acc.m.1\nunroll acc.init.ow.1\n"
    "vectorize acc.init.m.1";
constexpr std::string_view kConvThreads =
    "pack X 0 2 3 1\npad acc m 8 ow 4\nsplit acc.m 8\nreorder acc.m.0 acc.oh acc.m.1 acc.ow\n"
    "bind acc.n grid.z\nbind acc.m.0 grid.y\nbind acc.oh grid.x\nbind acc.m.1 block.y\nbind acc.ow "
    "block.x";

TEST(PaddedTiles, RunOnThisMachine) {
  EXPECT_EQ(Disagreement(test::kConv3x3, test::MustParseSteps(kConvSteps), DetectCpu(2)), "");
  EXPECT_EQ(
      Disagreement(test::ReadExample("matmul_padded.compute"), ExampleSchedule(), DetectCpu(2)),
      "");
}

TEST(PaddedTiles, RunOnAnEmulatedGpu) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  EXPECT_EQ(Disagreement(test::ReadExample("matmul_padded.compute"), ExampleSchedule(),
                         test::CheckedGpu("sm_80")),
            "");
  EXPECT_EQ(
      Disagreement(test::kConv3x3, test::MustParseSteps(kConvThreads), test::CheckedGpu("sm_80")),
      "");
}

class PaddedTilesOn : public testing::TestWithParam<const char*> {};

TEST_P(PaddedTilesOn, AreAssembled) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  const auto kernel = CompileKernel(test::ExampleCompute("matmul_padded"), ExampleSchedule(),
                                    {.target = test::Gpu(GetParam())});
  ASSERT_TRUE(kernel) << kernel.error().Format();
  ASSERT_EQ(kernel->image.phases.size(), 1u);
  EXPECT_EQ(kernel->image.phases[0].spilled_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Archs, PaddedTilesOn, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tunec
