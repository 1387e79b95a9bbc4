// Tests that code with register tiles of VDPBF16PS or emulated AMX agrees with the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/dot_products.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

using test::DotProgram;

std::vector<Sketch> SketchesBy(const std::string& instruction, const std::string& text,
                               const Target& target, const RoundingFreedom& rounding) {
  std::vector<Sketch> sketches = SketchesFor({.lowerings = {{"direct", test::MustParse(text)}},
                                              .target = target,
                                              .rounding = rounding,
                                              .gain = [](const TileIntrinsic&) { return 2.0; }});
  std::erase_if(sketches,
                [&](const Sketch& sketch) { return !sketch.name.ends_with("/" + instruction); });
  return sketches;
}

// Checks each sketch for the instruction with its initial and with random decisions. The last
// decisions compute an operand by block if possible. Returns the number of sketches.
int ExpectRight(const std::string& instruction, const std::string& text, const Target& target,
                const RoundingFreedom& rounding = test::AnyRounding()) {
  constexpr int kTries = 5;
  const test::ScheduleChecker checker(test::MustParse(text));
  std::mt19937 random(5);
  const std::vector<Sketch> sketches = SketchesBy(instruction, text, target, rounding);
  for (const Sketch& sketch : sketches) {
    Decisions decisions = sketch.InitialDecisions();
    for (int i = 0; i < kTries && !testing::Test::HasFailure(); ++i) {
      const Schedule schedule = sketch.Fill(decisions);
      const auto loops = test::LoopsOf(checker.compute(), schedule, rounding);
      EXPECT_TRUE(loops) << loops.error().message << "\n" << Print(schedule);
      if (!loops) break;
      EXPECT_EQ(checker.Disagreement(*loops, test::RunnerOn(target)), "") << Print(schedule);
      decisions = test::RandomDecisions(sketch, random);
      if (i == kTries - 2) decisions = test::WithKnob(sketch, decisions, "operand_by_block", 1);
    }
  }
  return static_cast<int>(sketches.size());
}

class DotTiles : public testing::TestWithParam<DotProgram> {};

TEST_P(DotTiles, RunOnThisMachine) {
  const Target target = DetectCpu(2);
  if (!target.Has("avx512bf16")) GTEST_SKIP() << "a machine without AVX512_BF16";
  ExpectRight("dpbf16", GetParam().text, target);
}

TEST_P(DotTiles, OfMatricesRunUnderEmulation) {
  if (!DetectCpu(2).Has("avx512f")) GTEST_SKIP() << "a machine without AVX-512";
  const int found = ExpectRight("amx", GetParam().text, *ParseCpu("native,+amx-emulated", 2));
  EXPECT_EQ(found > 0, GetParam().is_offered);
}

// With three bf16 parts of each float32 operand, a product is a sum of six products of parts.
TEST_P(DotTiles, OfThreeTermsRunUnderEmulation) {
  if (!DetectCpu(2).Has("avx512f")) GTEST_SKIP() << "a machine without AVX-512";
  const Target target = *ParseCpu("native,+amx-emulated", 2);
  const int found = ExpectRight("amx", GetParam().text, target, ReductionOrder::kAny);
  EXPECT_EQ(found > 0, GetParam().IsOfferedWhenSplit());
}

INSTANTIATE_TEST_SUITE_P(Programs, DotTiles, testing::ValuesIn(test::DotPrograms()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec
