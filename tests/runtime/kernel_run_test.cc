// Tests of runs of a single kernel without an executable. The kernel's phases run in order, and
// each thread has separate scratch memory.
#include "runtime/kernel_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/sample_kernels.h"

namespace tunec {
namespace {

TEST(KernelRun, RunsItsPhasesInOrderAsOftenAsAsked) {
  Vector x{};
  Vector out{};
  for (int64_t i = 0; i < kLength; ++i) x[i] = static_cast<float>(i % 7);
  ThreadPool pool(3);
  Kernel kernel{.phases = {{SumTask, kTasks, 1}, {CenterTask, kTasks, 1}}};
  kernel.workspace_bytes = kTasks * 4;
  auto run = KernelRun::Make(std::move(kernel), {x.data(), out.data()}, pool.threads());
  ASSERT_TRUE(run) << run.error().Format();
  KernelRun moved = *std::move(run);
  for (int times = 0; times < 3; ++times) {
    out.fill(-1);
    moved.Poison();
    moved.Run(pool);
    const float mean = std::accumulate(x.begin(), x.end(), 0.0f) / kLength;
    for (int64_t i = 0; i < kLength; ++i) ASSERT_NEAR(out[i], x[i] - mean, 1e-5) << i;
  }
}

TEST(KernelRun, ThreadsHaveScratchOfTheirOwn) {
  for (const int64_t scratch_bytes : {512, 8192}) {
    Vector out{};
    ThreadPool pool(4);
    Kernel kernel{.phases = {{ScratchTask, kTasks, 1}}, .scratch_bytes = scratch_bytes};
    auto run = KernelRun::Make(std::move(kernel), {out.data()}, pool.threads());
    ASSERT_TRUE(run) << run.error().Format();
    for (int times = 0; times < 20; ++times) {
      run->Run(pool);
      EXPECT_EQ(std::count(out.begin(), out.begin() + kTasks, 1.0f), kTasks);
    }
  }
}

TEST(ScratchStride, KeepsThreadsApart) {
  EXPECT_EQ(ScratchStride(0), 0u);
  EXPECT_EQ(ScratchStride(1), 128u);
  EXPECT_EQ(ScratchStride(4096), 4096u);
  EXPECT_EQ(ScratchStride(4097), 8192u);
}

}  // namespace
}  // namespace tunec
