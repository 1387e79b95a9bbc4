// Tests of the sharing of thread pools.
#include "runtime/shared_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace tunec {
namespace {

TEST(SharedPool, IsOneForEachNumberOfThreads) {
  const auto two = SharedPool(2);
  EXPECT_EQ(two->threads(), 2);
  EXPECT_EQ(SharedPool(2), two);
  const auto three = SharedPool(3);
  EXPECT_NE(three, two);
  EXPECT_EQ(three->threads(), 3);
}

TEST(SharedPool, EndsWithItsLastOwner) {
  auto pool = SharedPool(2);
  const std::weak_ptr<ThreadPool> seen = pool;
  auto other = SharedPool(2);
  pool.reset();
  EXPECT_FALSE(seen.expired());
  other.reset();
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(SharedPool(2)->threads(), 2);
}

TEST(SharedPool, IsAskedForFromSeveralThreads) {
  std::vector<std::shared_ptr<ThreadPool>> pools(8);
  std::vector<std::thread> threads;
  for (auto& pool : pools) threads.emplace_back([&pool] { pool = SharedPool(2); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& pool : pools) EXPECT_EQ(pool, pools[0]);
}

// Checks SharedPool in a process forked from the owner of `parents`. Returns the exit status, zero
// or the number of an error, because failed expectations in the child are not reported.
int WhatAForkedProcessMisses(const ThreadPool* parents) {
  const auto pool = SharedPool(2);
  if (pool.get() == parents) return 1;
  // Without workers the caller would run all tasks. The loop therefore waits until a worker has
  // helped, for about a minute at most.
  std::atomic<bool> helped = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!helped && std::chrono::steady_clock::now() < deadline) {
    std::atomic<int64_t> sum = 0;
    pool->ParallelFor(100, [&](int64_t task, int thread) {
      sum += task;
      if (thread != 0) helped = true;
      std::this_thread::sleep_for(std::chrono::microseconds(10));
    });
    if (sum != 99 * 100 / 2) return 2;
  }
  return helped ? 0 : 3;
}

TEST(SharedPool, AForkedProcessHasItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not support it";
#endif
  const auto pool = SharedPool(2);
  const pid_t child = fork();
  if (child == 0) _exit(WhatAForkedProcessMisses(pool.get()));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tunec
