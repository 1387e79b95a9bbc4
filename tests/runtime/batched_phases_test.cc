#include "runtime/batched_phases.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "runtime/thread_pool.h"

namespace tunec {
namespace {

// A run that records its tasks. Only one thread may execute it.
struct NotedRun {
  std::string name;
  std::vector<std::string>* notes;
  ParallelPhase Phase(int64_t tasks) {
    const auto note = [](void* context, int64_t begin, int64_t end, int) {
      const auto& run = *static_cast<NotedRun*>(context);
      for (int64_t task = begin; task < end; ++task)
        run.notes->push_back(run.name + std::to_string(task));
    };
    return {note, this, tasks};
  }
};

TEST(BatchedPhases, GoTaskByTask) {
  std::vector<std::string> notes;
  NotedRun a{"a", &notes}, b{"b", &notes}, c{"c", &notes};
  const std::vector of_a = {a.Phase(2), a.Phase(1)};
  const std::vector of_b = {b.Phase(2), b.Phase(1)};
  const std::vector of_c = {c.Phase(3)};  // a kernel with more tasks and fewer phases
  BatchedPhases phases;
  phases.Add(std::vector<std::span<const ParallelPhase>>{of_a, of_b, of_c});
  phases.Add(std::vector<std::span<const ParallelPhase>>{of_c, of_a});
  ThreadPool(1).RunPhases(phases.All());
  EXPECT_EQ(notes, (std::vector<std::string>{"a0", "b0", "a1", "b1", "a0", "b0", "c0", "c1", "c2",
                                             "c0", "c1", "c2", "a0", "a1", "a0"}));
}

TEST(BatchedPhases, EachTaskRunsOnce) {
  constexpr int64_t kTasks = 100;
  constexpr size_t kRuns = 7;
  using Counts = std::vector<std::atomic<int>>;
  std::vector<Counts> counts(kRuns);
  std::vector<std::vector<ParallelPhase>> phases;
  const auto count = [](void* context, int64_t begin, int64_t end, int) {
    for (int64_t task = begin; task < end; ++task) ++(*static_cast<Counts*>(context))[task];
  };
  for (Counts& each : counts) {
    each = Counts(kTasks);
    phases.push_back({{count, &each, kTasks}});
  }
  BatchedPhases joined;
  joined.Add(std::vector<std::span<const ParallelPhase>>(phases.begin(), phases.end()));
  ThreadPool pool(4);
  for (int round = 1; round <= 50; ++round) {
    pool.RunPhases(joined.All());
    for (const Counts& each : counts) {
      for (const std::atomic<int>& times : each) EXPECT_EQ(times, round);
    }
  }
}

}  // namespace
}  // namespace tunec
