// Tests of convolutions by Winograd's tiles. The code must agree with the interpreter. Interpreted
// results must agree with those of the direct convolution.
#include <gtest/gtest.h>

#include <random>

#include "ir/interpret/interpret.h"
#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/winograd.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

using test::WinogradConv;

std::optional<Sketch> SketchOf(const WinogradConv& conv, const Target& target,
                               const RoundingFreedom& rounding, const std::string& name) {
  for (Sketch& sketch :
       SketchesFor({.lowerings = {{"direct", test::MustParse(test::DirectText(conv))},
                                  {"winograd", test::MustParse(test::WinogradText(conv))}},
       .target = target,
       .rounding = rounding,
       .gain = [](const TileIntrinsic&) { return 2.0; }})) {
    if (sketch.name == name) return std::move(sketch);
  }
  return std::nullopt;
}

// Returns a rounding freedom that allows tiles of 4x4.
RoundingFreedom Loose() {
  RoundingFreedom rounding = ReductionOrder::kAny;
  rounding.allowed_error = 1e-2;
  return rounding;
}

// Checks the sketch with its initial and with random decisions.
void ExpectRight(const Sketch& sketch, const WinogradConv& conv, const Target& target,
                 const RoundingFreedom& rounding) {
  const test::ScheduleChecker checker(test::MustParse(test::WinogradText(conv)));
  std::mt19937 random(5);
  Decisions decisions = sketch.InitialDecisions();
  const int schedules = conv.tile == 2 ? 5 : 2;  // larger tiles compile longer
  for (int i = 0; i < schedules && !testing::Test::HasFailure(); ++i) {
    const Schedule schedule = sketch.Fill(decisions);
    const auto loops = test::LoopsOf(checker.compute(), schedule, rounding);
    ASSERT_TRUE(loops) << loops.error().message << "\n" << Print(schedule);
    EXPECT_EQ(checker.Disagreement(*loops, test::RunnerOn(target)), "") << Print(schedule);
    decisions = test::RandomDecisions(sketch, random);
  }
}

class Transformed : public testing::TestWithParam<WinogradConv> {};

TEST_P(Transformed, RunsOnThisMachine) {
  const Target target = DetectCpu(2);
  const std::optional<Sketch> sketch = SketchOf(GetParam(), target, Loose(), "transformed");
  if (!sketch) GTEST_SKIP() << "not offered on this machine";
  ExpectRight(*sketch, GetParam(), target, Loose());
}

TEST_P(Transformed, RunsOnVectorsOfEight) {
  const Target target = *ParseCpu("native,-avx512f", 2);
  const std::optional<Sketch> sketch = SketchOf(GetParam(), target, Loose(), "transformed");
  if (!sketch) GTEST_SKIP() << "not offered on this machine";
  ExpectRight(*sketch, GetParam(), target, Loose());
}

// In tiles of 2x2, the transforms of small multiples of 1/8 are exact in bfloat16.
TEST_P(Transformed, RunsByPairsOfBfloat16) {
  const Target target = DetectCpu(2);
  if (!target.Has("avx512bf16")) GTEST_SKIP() << "a machine without AVX512_BF16";
  const WinogradConv& conv = GetParam();
  const std::optional<Sketch> sketch =
      SketchOf(conv, target, test::AnyRounding(), "transformed/dpbf16");
  // The error bound of 4x4 tiles in bfloat16 is greater than AnyRounding allows.
  const bool fits = conv.channels % 2 == 0 && conv.outputs % 16 == 0 && conv.tile == 2;
  EXPECT_TRUE(fits || !sketch);
  if (!sketch) GTEST_SKIP() << "not offered";
  ExpectRight(*sketch, conv, target, test::AnyRounding());
}

// The arguments are small multiples of 1/8, so both results are exact with tiles of 2x2.
TEST_P(Transformed, IsTheConvolution) {
  const Compute direct = test::MustParse(test::DirectText(GetParam()));
  const Compute winograd = test::MustParse(test::WinogradText(GetParam()));
  const std::vector<Array> arguments = test::RandomArguments(direct, 11);
  const auto expected = Interpret(direct, arguments, Precision::kNative);
  const auto actual = Interpret(winograd, arguments, Precision::kNative);
  ASSERT_TRUE(expected && actual);
  const double tolerance = GetParam().tile == 2 ? 0 : 1e-4;
  for (int64_t i = 0; i < (*expected)[0].size(); ++i) {
    ASSERT_NEAR((*actual)[0].GetDouble(i), (*expected)[0].GetDouble(i), tolerance) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Transformed, testing::ValuesIn(test::WinogradConvs()),
                         [](const auto& info) { return test::NameOf(info.param); });

}  // namespace
}  // namespace tunec
