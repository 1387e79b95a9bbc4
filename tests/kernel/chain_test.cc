// Tests of kernels that compute a depthwise convolution in the tasks of the following pointwise
// one. Their results are compared with the interpreter's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "kernel/run_once.h"
#include "tests/programs/chains.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

using test::ChainProgram;

// Checks each sketch whose name ends with `name`, with its initial and with random decisions.
// Returns the number of these sketches.
int ExpectRight(const std::string& text, const Target& target, const RoundingFreedom& rounding,
                std::string_view name) {
  const test::ScheduleChecker checker(test::MustParse(text));
  ThreadPool pool(2);
  std::mt19937 random(5);
  int found = 0;
  for (const Sketch& sketch : SketchesFor({.lowerings = {{"direct", test::MustParse(text)}},
                              .target = target,
                              .rounding = rounding,
                              .gain = [](const TileIntrinsic&) { return 2.0; }})) {
    if (!sketch.name.ends_with(name)) continue;
    ++found;
    Decisions decisions = sketch.InitialDecisions();
    for (int i = 0; i < 6 && !testing::Test::HasFailure(); ++i) {
      const Schedule schedule = sketch.Fill(decisions);
      const auto loops = test::LoopsOf(checker.compute(), schedule, rounding);
      EXPECT_TRUE(loops) << loops.error().message << "\n" << Print(schedule);
      if (!loops) break;
      EXPECT_EQ(
          checker.Disagreement(*loops,
                               [&](const LoopNest& nest, const std::vector<Array>& arguments) {
                                 return CompileAndRun(nest, arguments, target, pool);
                               }),
          "")
          << Print(schedule);
      decisions = test::RandomDecisions(sketch, random);
    }
  }
  return found;
}

class ChainKernel : public testing::TestWithParam<ChainProgram> {};

TEST_P(ChainKernel, RunsOnThisMachine) {
  EXPECT_GT(ExpectRight(GetParam().text, DetectCpu(2), ReductionOrder::kAny, "/chain"), 0);
}

TEST_P(ChainKernel, RunsWithAvx2) {
  const Result<Target> target = ParseCpu("native,-avx512f", 2);
  if (!target) GTEST_SKIP() << "a machine without AVX-512";
  EXPECT_GT(ExpectRight(GetParam().text, *target, ReductionOrder::kAny, "/chain"), 0);
}

TEST_P(ChainKernel, OfPairsRunsOnThisMachine) {
  const Target target = DetectCpu(2);
  if (!target.Has("avx512bf16")) GTEST_SKIP() << "a machine without AVX512_BF16";
  const int found = ExpectRight(GetParam().text, target, test::AnyRounding(), "/dpbf16/chain");
  EXPECT_EQ(found > 0, GetParam().has_pairs);
}

INSTANTIATE_TEST_SUITE_P(Programs, ChainKernel, testing::ValuesIn(test::ChainPrograms()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec
