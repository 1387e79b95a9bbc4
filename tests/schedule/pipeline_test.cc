// Tests of the wait, the barrier and the stages of a pipelined loop with threads. Without the wait
// or the barrier, the checker rejects the example's nest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/nest/rewrite_loop_nest.h"
#include "tests/golden/golden_file.h"
#include "tests/programs/examples.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {
namespace {

using testing::HasSubstr;

struct Example {
  ScheduleChecker checker;
  KernelLoops kernel;
};

const Example& Matmul() {
  static const Example example = [] {
    Compute compute = ExampleCompute("matmul_blocks");
    const auto schedule = ParseSchedule(ReadExample("matmul_blocks.sched"), "example");
    auto kernel = LoopsOf(compute, *schedule, ReductionOrder::kAsWritten);
    return Example{ScheduleChecker(std::move(compute)), std::move(*kernel)};
  }();
  return example;
}

template <class T>
std::string DisagreementWithout() {
  KernelLoops kernel = Matmul().kernel;
  int removed = 0;
  kernel.nest = Rewrite(kernel.nest, [&](const T&) {
    ++removed;
    return Body();
  });
  EXPECT_EQ(removed, 1);
  return Matmul().checker.Disagreement(kernel);
}

TEST(PipelinedBlocks, AreRightAsInTheGoldenExample) {
  EXPECT_EQ(Matmul().checker.Disagreement(Matmul().kernel), "");
  ExpectGolden(ExampleFolder() / "matmul_blocks.nest", Print(Matmul().kernel.nest));
}

TEST(PipelinedBlocks, NeedTheirWait) {
  EXPECT_THAT(DisagreementWithout<Wait>(), HasSubstr("which nothing wrote"));
}

TEST(PipelinedBlocks, NeedTheirBarrier) {
  EXPECT_THAT(DisagreementWithout<Barrier>(), HasSubstr("race: "));
}

// Here the copies for a later iteration overwrite the data that the current iteration reads.
TEST(PipelinedBlocks, NeedAllTheirStages) {
  std::string text = Print(Matmul().kernel.nest);
  for (size_t at = 0; (at = text.find(" + 2) mod 3", at)) != std::string::npos;) {
    text.replace(at, 11, ") mod 3");
  }
  KernelLoops kernel = Matmul().kernel;
  kernel.nest = *ParseLoopNest(text, "stages");
  EXPECT_NE(Matmul().checker.Disagreement(kernel), "");
}

}  // namespace
}  // namespace tunec::test
