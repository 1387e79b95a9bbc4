// Tests of the files NAME.sched of examples/loops that have a file NAME.compute. The schedules must
// be legal and give the interpreter's results. Illegal orders of stencils are rejected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/programs/examples.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(ExampleFolder())) {
    fs::path schedule = entry.path();
    schedule.replace_extension(".sched");
    if (entry.path().extension() == ".compute" && fs::exists(schedule)) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

class LoopExamples : public testing::TestWithParam<std::string> {};

TEST_P(LoopExamples, AreLegalAndKeepTheResult) {
  const Compute compute = ExampleCompute(GetParam());
  const auto schedule = ParseSchedule(ReadExample(GetParam() + ".sched"), GetParam());
  ASSERT_TRUE(schedule) << schedule.error().Format();
  const auto splits = [](const ComputeStep& step) {
    return std::holds_alternative<PrecisionStep>(step);
  };
  const auto tiles = [](const LoopStep& step) {
    return std::holds_alternative<TensorizeStep>(step);
  };
  const bool exact = std::ranges::none_of(schedule->compute_steps, splits) &&
                     std::ranges::none_of(schedule->loop_steps, tiles);
  const auto kernel =
      LoopsOf(compute, *schedule, exact ? ReductionOrder::kAsWritten : ReductionOrder::kAny);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(*ParseLoopNest(Print(kernel->nest), "again"), kernel->nest);
  EXPECT_EQ(ScheduleChecker(compute).Disagreement(*kernel), "");
}

INSTANTIATE_TEST_SUITE_P(Files, LoopExamples, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

// Applies the steps to the named example. Returns "legal" or the message of the error.
std::string Upright(std::string_view name, std::string_view steps) {
  const Compute compute = ExampleCompute(std::string(name));
  const auto kernel = LoopsOf(compute, MustParseSteps(steps), ReductionOrder::kAny);
  return kernel ? "legal" : kernel.error().message;
}

TEST(LoopExamples, StencilsNeedSkewingBeforeTheyAreTiled) {
  EXPECT_THAT(
      Upright("jacobi_1d", "split A.t 8\nsplit A.i 64\nreorder A.t.0 A.i.0 A.t.1 A.i.1"),
      testing::HasSubstr("dependence A(t=0, i=64) -> A(t=1, i=63) at distance (t 1, i -1)"));
  EXPECT_THAT(Upright("gauss_seidel_2d", "reorder A.i A.t"),
              testing::HasSubstr("order of accesses of A: the flow dependence"));
  EXPECT_THAT(Upright("heat_3d", "reorder A.k A.t"), testing::HasSubstr("order of accesses of A"));
  EXPECT_THAT(Upright("gauss_seidel_2d", "wavefront A.t\nparallelize A.i"),
              testing::HasSubstr("parallel loop A.i carries accesses of A: the flow dependence"));
}

}  // namespace
}  // namespace tunec::test
