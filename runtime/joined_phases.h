// Private to runtime/: the phases of several runs as those of one job.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "runtime/thread_pool.h"

namespace tunec {

/// Phases of runs that go together, step by step. Where runs have as many tasks in each phase of a
/// step, a phase is one for all of them, and goes task by task: the first task of each run, then
/// the second of each. So the part of a step's constants that a task reads comes from memory once
/// and from the core's own cache for the other runs, and threads wait for each other once. Keeps
/// addresses of its own elements, so it stays where it is.
class JoinedPhases {
 public:
  JoinedPhases() = default;
  JoinedPhases(const JoinedPhases&) = delete;
  JoinedPhases& operator=(const JoinedPhases&) = delete;

  /// The phases of a step in each of the runs, none of which reads what another writes.
  void Add(std::span<const std::span<const ParallelPhase>> runs);
  /// All that was added, in order.
  std::span<const ParallelPhase> All() const { return phases_; }

 private:
  using OfRuns = std::vector<ParallelPhase>;
  static void RunTasks(void* of_runs, int64_t begin, int64_t end, int thread);

  std::deque<OfRuns> joined_;
  std::vector<ParallelPhase> phases_;
};

}  // namespace tunec
