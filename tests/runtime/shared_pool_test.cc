// Who has which pool of threads in common.
#include "runtime/shared_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(SharedPool, AForkedProcessHasItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not support it";
#endif
  const auto pool = SharedPool(2);
  const pid_t child = fork();
  if (child == 0) _exit(SharedPool(2) == pool ? 1 : 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tunec
