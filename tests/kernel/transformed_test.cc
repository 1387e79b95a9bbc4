// Convolutions by Winograd's tiles as machine code, against the interpreter and against the
// convolution as it is defined.
#include <gtest/gtest.h>

#include <random>

#include "ir/interpret/interpret.h"
#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "tests/kernel/device_programs.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"
#include "tests/schedule/winograd_programs.h"

namespace tunec {
namespace {

using test::WinogradConv;

std::optional<Sketch> TransformedOf(const WinogradConv& conv, const Target& target) {
  for (Sketch& sketch :
       SketchesFor({.lowerings = {{"direct", test::MustParse(test::DirectText(conv))},
                                  {"winograd", test::MustParse(test::WinogradText(conv))}},
       .target = target,
       .rounding = ReductionOrder::kAny})) {
    if (sketch.name == "transformed") return std::move(sketch);
  }
  return std::nullopt;
}

class Transformed : public testing::TestWithParam<WinogradConv> {};

TEST_P(Transformed, RunsOnThisMachine) {
  const Target target = DetectCpu(2);
  const std::optional<Sketch> sketch = TransformedOf(GetParam(), target);
  if (!sketch) GTEST_SKIP() << "not offered on this machine";
  const test::Judge judge(test::MustParse(test::WinogradText(GetParam())));
  std::mt19937 random(5);
  Decisions decisions = sketch->InitialDecisions();
  for (int i = 0; i < 5 && !HasFailure(); ++i) {
    const Schedule schedule = sketch->Fill(decisions);
    const auto loops = test::LoopsOf(judge.compute(), schedule, ReductionOrder::kAny);
    ASSERT_TRUE(loops) << loops.error().message << "\n" << Print(schedule);
    EXPECT_EQ(judge.Disagreement(*loops, test::RunnerOn(target)), "") << Print(schedule);
    decisions = test::RandomDecisions(*sketch, random);
  }
}

// The arguments are small multiples of 1/8: both are exact.
TEST_P(Transformed, IsTheConvolution) {
  const Compute direct = test::MustParse(test::DirectText(GetParam()));
  const Compute winograd = test::MustParse(test::WinogradText(GetParam()));
  const std::vector<Array> arguments = test::RandomArguments(direct, 11);
  const auto expected = Interpret(direct, arguments, Precision::kNative);
  const auto actual = Interpret(winograd, arguments, Precision::kNative);
  ASSERT_TRUE(expected && actual);
  for (int64_t i = 0; i < (*expected)[0].size(); ++i) {
    ASSERT_EQ((*actual)[0].GetDouble(i), (*expected)[0].GetDouble(i)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Transformed, testing::ValuesIn(test::WinogradConvs()),
                         [](const auto& info) { return test::NameOf(info.param); });

}  // namespace
}  // namespace tunec
