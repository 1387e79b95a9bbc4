// A class that joins the phases of several runs into one job. Only runtime/ uses this file.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "runtime/thread_pool.h"

namespace tunec {

/// Phases of several runs, joined step by step. Consecutive runs that have the same number of tasks
/// in each phase of a step are joined: each phase becomes one phase for all these runs. Its tasks
/// are the first task of each run, then the second of each, and so on. So constants that the runs
/// share are usually read from memory once. Threads wait for each other once per joined phase. The
/// object stores addresses of elements, so it must not move.
class BatchedPhases {
 public:
  BatchedPhases() = default;
  BatchedPhases(const BatchedPhases&) = delete;
  BatchedPhases& operator=(const BatchedPhases&) = delete;

  /// Adds the phases of a step of all runs. Requires: no run accesses data that another writes.
  void Add(std::span<const std::span<const ParallelPhase>> runs);
  /// Returns the joined phases of all steps in order.
  std::span<const ParallelPhase> All() const { return phases_; }

 private:
  using OfRuns = std::vector<ParallelPhase>;
  static void RunTasks(void* of_runs, int64_t begin, int64_t end, int thread);

  std::deque<OfRuns> joined_;
  std::vector<ParallelPhase> phases_;
};

}  // namespace tunec
