// Register tiles by VDPBF16PS as machine code, against the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "kernel/run_once.h"
#include "tests/schedule/dot_programs.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec {
namespace {

using test::DotProgram;

std::vector<Sketch> DotSketches(const std::string& text, const Target& target) {
  std::vector<Sketch> sketches = SketchesFor({.lowerings = {{"direct", test::MustParse(text)}},
                                              .target = target,
                                              .rounding = test::AnyRounding(),
                                              .gain = [](const TileIntrinsic&) { return 2.0; }});
  std::erase_if(sketches, [](const Sketch& sketch) { return !sketch.name.ends_with("/dpbf16"); });
  return sketches;
}

class DotTiles : public testing::TestWithParam<DotProgram> {};

TEST_P(DotTiles, RunOnThisMachine) {
  const Target target = DetectCpu(2);
  if (!target.Has("avx512bf16")) GTEST_SKIP() << "a machine without AVX512_BF16";
  const test::Judge judge(test::MustParse(GetParam().text));
  ThreadPool pool(2);
  std::mt19937 random(5);
  for (const Sketch& sketch : DotSketches(GetParam().text, target)) {
    Decisions decisions = sketch.InitialDecisions();
    for (int i = 0; i < 4 && !HasFailure(); ++i) {
      const Schedule schedule = sketch.Fill(decisions);
      const auto loops = test::LoopsOf(judge.compute(), schedule, test::AnyRounding());
      ASSERT_TRUE(loops) << loops.error().message << "\n" << Print(schedule);
      EXPECT_EQ(judge.Disagreement(*loops,
                                   [&](const LoopNest& nest, const std::vector<Array>& arguments) {
                                     return CompileAndRun(nest, arguments, target, pool);
                                   }),
                "")
          << Print(schedule);
      for (size_t k = 0; k < decisions.size(); ++k) {
        decisions[k] = static_cast<int>(random() % sketch.knobs[k].choices.size());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, DotTiles, testing::ValuesIn(test::DotPrograms()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec
