// Tests of the schedules of examples/loops as machine code on two threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "ir/tile_intrinsic.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/run_once.h"
#include "tests/programs/examples.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::fuzz {
namespace {

namespace fs = std::filesystem;

TEST(LoopExamples, RunAsMachineCode) {
  ThreadPool pool(2);
  const Target target = DetectCpu(2);
  int examples = 0;
  const fs::path folder = test::ExampleFolder();
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".compute") continue;
    const std::string name = entry.path().stem().string();
    if (!fs::exists(folder / (name + ".sched"))) continue;
    const test::ScheduleChecker checker(test::ExampleCompute(name));
    const auto schedule = ParseSchedule(test::ReadExample(name + ".sched"), name);
    ASSERT_TRUE(schedule) << schedule.error().Format();
    const auto kernel = test::LoopsOf(checker.compute(), *schedule, ReductionOrder::kAny);
    ASSERT_TRUE(kernel) << kernel.error().message;
    const auto run = [&](const LoopNest& nest, const std::vector<Array>& arguments) {
      return CompileAndRun(nest, arguments, target, pool);
    };
    if (const auto missing = MissingFeatures(kernel->nest, target); !missing.empty()) {
      std::cout << "[SKIP] " << name << " as machine code: no " << missing.front() << "\n";
      continue;
    }
    // Several rounds are needed, because a missed dependence gives wrong results only occasionally.
    for (int round = 0; round < 5; ++round)
      EXPECT_EQ(checker.Disagreement(*kernel, run), "") << name;
    ++examples;
  }
  EXPECT_GE(examples, 6);
}

}  // namespace
}  // namespace tunec::fuzz
