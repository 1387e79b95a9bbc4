// Tests of the waits and barriers of a pipelined loop with threads. Without any one of them, the
// example's nest is found to be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/nest/rewrite_loop_nest.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {
namespace {

using testing::HasSubstr;

std::filesystem::path ExampleFile(std::string_view name) {
  return std::filesystem::path(TUNEC_TEST_DATA).parent_path() / "examples/loops" / name;
}

std::string ReadExample(std::string_view name) {
  std::ifstream file(ExampleFile(name));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Example {
  ScheduleChecker checker;
  KernelLoops kernel;
};

const Example& Matmul() {
  static const Example example = [] {
    Compute compute = MustParse(ReadExample("matmul_blocks.compute"));
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

TEST(PipelinedBlocks, AreRightAsTheyAre) {
  EXPECT_EQ(Matmul().checker.Disagreement(Matmul().kernel), "");
  const std::string nest = Print(Matmul().kernel.nest);
  if (const char* bless = std::getenv("TUNEC_BLESS"); bless != nullptr && *bless == '1') {
    std::ofstream(ExampleFile("matmul_blocks.nest")) << nest;
  }
  EXPECT_EQ(nest, ReadExample("matmul_blocks.nest"));
}

TEST(PipelinedBlocks, NeedTheirWait) {
  EXPECT_THAT(DisagreementWithout<Wait>(), HasSubstr("which nothing wrote"));
}

TEST(PipelinedBlocks, NeedTheirBarrier) {
  EXPECT_THAT(DisagreementWithout<Barrier>(), HasSubstr("race: "));
}

// With one stage less in storage, copies begun ahead overwrite data in use.
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
