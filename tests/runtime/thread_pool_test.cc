#include "runtime/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "support/processors.h"

namespace tunec {
namespace {

void ExpectEveryTaskOnce(ThreadPool& pool, int64_t tasks) {
  std::vector<std::atomic<int>> runs(tasks);
  pool.ParallelFor(tasks, [&](int64_t task, int) { runs[task].fetch_add(1); });
  for (int64_t task = 0; task < tasks; ++task) ASSERT_EQ(runs[task].load(), 1) << task;
}

// Returns only after `count` threads have entered.
void Meet(std::atomic<int>& arrived, int count) {
  arrived.fetch_add(1);
  while (arrived.load() < count) std::this_thread::yield();
}

int64_t ThreadsOfThisProcess() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t tasks : {0, 1, 2, 7, 64, 1000, 100000}) ExpectEveryTaskOnce(pool, tasks);
  }
}

// The tasks of a phase with 2^32 tasks or more are claimed in blocks of several tasks.
TEST(ThreadPool, CountsTasksBeyond32Bits) {
  struct Seen {
    std::atomic<int64_t> tasks = 0;
    std::atomic<int64_t> most = 0;
    static void Run(void* context, int64_t begin, int64_t end, int) {
      auto& self = *static_cast<Seen*>(context);
      self.tasks.fetch_add(end - begin);
      int64_t most = self.most.load();
      while (most < end && !self.most.compare_exchange_weak(most, end)) {
      }
    }
  };
  ThreadPool pool(3);
  for (const int64_t tasks : {(int64_t{1} << 32) - 1, int64_t{1} << 32, (int64_t{1} << 40) + 3}) {
    Seen seen;
    const ParallelPhase phase{.run = Seen::Run, .context = &seen, .tasks = tasks};
    pool.RunPhases({&phase, 1});
    EXPECT_EQ(seen.tasks.load(), tasks);
    EXPECT_EQ(seen.most.load(), tasks);
  }
}

// The first thread claims tasks from the beginning, the second from the end. So a thread often does
// the same tasks in the next phase, and may find the data in the core's cache.
TEST(ThreadPool, ClaimsFromBothEnds) {
  ThreadPool pool(2);
  std::vector<int> thread_of(1000, -1);
  std::atomic<int> arrived = 0;
  pool.ParallelFor(1000, [&](int64_t task, int thread) {
    thread_of[static_cast<size_t>(task)] = thread;
    if (task == 0 || task == 999) Meet(arrived, 2);
  });
  EXPECT_EQ(thread_of.front(), 0);
  EXPECT_EQ(thread_of.back(), 1);
}

TEST(ThreadPool, FewerThanOneThreadMeansOne) {
  ThreadPool pool(0);
  EXPECT_EQ(pool.threads(), 1);
  ExpectEveryTaskOnce(pool, 10);
}

TEST(ThreadPool, SleepingWorkersAreWoken) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> arrived = 0;
    pool.ParallelFor(3, [&](int64_t, int) { Meet(arrived, 3); });
    EXPECT_EQ(arrived.load(), 3);
  }
}

TEST(ThreadPool, SleepingCallerIsWoken) {
  ThreadPool pool(2);
  std::atomic<int> arrived = 0;
  const std::thread::id caller = std::this_thread::get_id();
  pool.ParallelFor(2, [&](int64_t, int) {
    Meet(arrived, 2);
    if (std::this_thread::get_id() != caller)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  EXPECT_EQ(arrived.load(), 2);
}

// A phase in which every task checks that all tasks of the previous phase are done.
struct CheckedPhase {
  const std::atomic<int64_t>* done_before;
  int64_t expected_before;
  std::atomic<int64_t> done = 0;
  std::atomic<int64_t> wrong = 0;

  static void Run(void* context, int64_t begin, int64_t end, int) {
    auto& self = *static_cast<CheckedPhase*>(context);
    for (int64_t task = begin; task < end; ++task) {
      if (self.done_before->load(std::memory_order_relaxed) != self.expected_before)
        self.wrong.fetch_add(1);
      self.done.fetch_add(1, std::memory_order_relaxed);
    }
  }
};

TEST(ThreadPool, PhasesRunOneAfterTheOther) {
  const std::vector<int64_t> counts = {0, 5, 1, 0, 0, 300, 1, 1, 2, 17, 0, 1, 64, 0};
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
      const std::atomic<int64_t> none = 0;
      std::vector<CheckedPhase> checked(counts.size());
      std::vector<ParallelPhase> phases;
      for (size_t i = 0; i < counts.size(); ++i) {
        checked[i].done_before = i == 0 ? &none : &checked[i - 1].done;
        checked[i].expected_before = i == 0 ? 0 : counts[i - 1];
        phases.push_back({CheckedPhase::Run, &checked[i], counts[i]});
      }
      pool.RunPhases(phases);
      for (size_t i = 0; i < counts.size(); ++i) {
        ASSERT_EQ(checked[i].done.load(), counts[i]) << i;
        ASSERT_EQ(checked[i].wrong.load(), 0) << i;
      }
    }
  }
}

TEST(ThreadPool, PlainWritesOfOnePhaseAreSeenInTheNext) {
  ThreadPool pool(4);
  std::vector<int64_t> values(1000);
  for (int round = 0; round < 100; ++round) {
    pool.ParallelFor(1000, [&](int64_t task, int) { values[task] = task + round; });
    int64_t sum = 0;
    for (const int64_t value : values) sum += value;
    ASSERT_EQ(sum, 499500 + 1000 * round);
  }
}

TEST(ThreadPool, NoThreadNumberIsUsedTwiceAtATime) {
  ThreadPool pool(4);
  std::vector<std::atomic<bool>> in_use(4);
  std::atomic<int> clashes = 0;
  for (int round = 0; round < 50; ++round)
    pool.ParallelFor(100, [&](int64_t, int thread) {
      if (in_use[thread].exchange(true)) clashes.fetch_add(1);
      std::this_thread::yield();
      in_use[thread].store(false);
    });
  EXPECT_EQ(clashes.load(), 0);
}

TEST(ThreadPool, TasksMayRunJobs) {
  ThreadPool pool(3);
  std::atomic<int64_t> runs = 0;
  pool.ParallelFor(10, [&](int64_t, int) {
    pool.ParallelFor(10, [&](int64_t, int thread) {
      EXPECT_EQ(thread, 0);
      runs.fetch_add(1);
    });
  });
  EXPECT_EQ(runs.load(), 100);
}

TEST(ThreadPool, ServesSeveralCallers) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> runs = 0;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round)
        pool.ParallelFor(20, [&](int64_t, int) { runs.fetch_add(1); });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(runs.load(), 4 * 500 * 20);
}

// Waits until `is_so` returns true, for about 20 seconds at most. Returns its last result.
bool ComesTrue(const auto& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_so() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return is_so();
}

// A caller that began without workers gets free workers later if a phase of several tasks remains.
TEST(ThreadPool, WorkersComeBetweenPhases) {
  ThreadPool pool(2);
  std::atomic<bool> first_runs = false, second_began = false, first_done = false;
  std::thread first([&] {
    pool.ParallelFor(2, [&](int64_t, int) {
      first_runs = true;
      EXPECT_TRUE(ComesTrue([&] { return second_began.load(); }));
    });
    first_done = true;
  });
  struct Alone {
    std::atomic<bool>& began;
    std::atomic<bool>& first_done;
  } alone{second_began, first_done};
  std::atomic<int> arrived = 0;
  const auto wait = [](void* context, int64_t, int64_t, int) {
    const auto& self = *static_cast<Alone*>(context);
    self.began = true;
    EXPECT_TRUE(ComesTrue([&] { return self.first_done.load(); }));
  };
  const auto meet = [](void* context, int64_t begin, int64_t end, int) {
    auto& count = *static_cast<std::atomic<int>*>(context);
    for (int64_t task = begin; task < end; ++task) {
      count.fetch_add(1);
      EXPECT_TRUE(ComesTrue([&] { return count.load() == 2; }));
    }
  };
  EXPECT_TRUE(ComesTrue([&] { return first_runs.load(); }));  // its call has the worker
  const std::vector<ParallelPhase> phases = {{wait, &alone, 1}, {meet, &arrived, 2}};
  pool.RunPhases(phases);
  EXPECT_EQ(arrived.load(), 2);
  first.join();
}

TEST(ThreadPool, FinishesWithManyMoreThreadsThanCores) {
  ThreadPool pool(40);
  for (int round = 0; round < 300; ++round) ExpectEveryTaskOnce(pool, 100);
}

TEST(ThreadPool, LeavesNoThreadBehind) {
  std::thread([] {}).join();  // a sanitizer may start a thread together with the first one
  const int64_t before = ThreadsOfThisProcess();
  for (int round = 0; round < 50; ++round) {
    ThreadPool pool(4);
    if (round % 2 == 0) ExpectEveryTaskOnce(pool, 8);
  }
  // A joined thread may still be in the kernel's list for a short time.
  for (int wait = 0; wait < 1000 && ThreadsOfThisProcess() > before; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(ThreadsOfThisProcess(), before);
}

TEST(ThreadPool, PinnedWorkersRunTasks) {
  ThreadPool pool(3, Pinning::kCores);
  ExpectEveryTaskOnce(pool, 1000);
}

// Each thread of a pinned pool stays on a separate processor.
TEST(ThreadPool, PinnedThreadsHaveTheirOwnProcessors) {
  if (UsableProcessors() < 2) GTEST_SKIP() << "one processor";
  ThreadPool pool(2, Pinning::kCores);
  ASSERT_TRUE(pool.CallersProcessor());
  const std::vector<int> before = AllowedProcessors();
  std::array<std::set<int>, 2> seen;
  {
    const PinnedThread pinned(pool.CallersProcessor());
    EXPECT_EQ(AllowedProcessors(), std::vector<int>{*pool.CallersProcessor()});
    for (int round = 0; round < 50; ++round)
      pool.ParallelFor(64, [&](int64_t, int thread) { seen[thread].insert(sched_getcpu()); });
  }
  EXPECT_EQ(AllowedProcessors(), before);
  EXPECT_EQ(seen[0], std::set<int>{*pool.CallersProcessor()});
  EXPECT_LE(seen[1].size(), 1u);
  EXPECT_FALSE(seen[1].contains(*pool.CallersProcessor()));
}

// A process with too few processors, as under `taskset`, runs an unpinned pool.
TEST(ThreadPool, MoreThreadsThanProcessorsAreNotPinned) {
  const std::vector<int> before = AllowedProcessors();
  RestrictThreadTo({before.data(), 1});
  ThreadPool pool(2, Pinning::kCores);
  EXPECT_FALSE(pool.CallersProcessor());
  ExpectEveryTaskOnce(pool, 100);
  RestrictThreadTo(before);
  EXPECT_FALSE(ThreadPool(1, Pinning::kCores).CallersProcessor()) << "one thread is not pinned";
}

TEST(ThreadPool, WorksAndEndsInAForkedProcess) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not support it";
#endif
  auto pool = std::make_unique<ThreadPool>(3);
  ExpectEveryTaskOnce(*pool, 100);
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> runs = 0;
    pool->ParallelFor(100, [&](int64_t, int) { runs.fetch_add(1); });
    pool.reset();
    _exit(runs.load() == 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ExpectEveryTaskOnce(*pool, 100);
}

}  // namespace
}  // namespace tunec
