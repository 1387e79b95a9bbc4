// A pool of threads that run tasks, mainly of kernels. thread_pool.cc explains the protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace tunec {

/// A function that runs tasks [begin, end) of one phase on thread number `thread`. Must not throw.
using TaskRange = void (*)(void* context, int64_t begin, int64_t end, int thread);

/// A phase of independent tasks, which may run in any order and at the same time.
struct ParallelPhase {
  TaskRange run = nullptr;
  void* context = nullptr;
  int64_t tasks = 0;
};

/// Placement of a pool's workers on processors.
enum class Pinning : uint8_t {
  kNone,  // the operating system places the threads
  /// Each worker stays on a separate processor, on different cores if possible. A pool with one
  /// thread is not pinned. A pool with more threads than the process can run at once is not pinned.
  kCores,
};

/// A scope in which the calling thread stays on one processor; without a processor it does nothing.
/// Threads that are started within the scope stay there, too.
class PinnedThread {
 public:
  explicit PinnedThread(std::optional<int> processor);
  ~PinnedThread();
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

 private:
  std::vector<int> before_;  // processors to restore; empty: nothing was changed
};

/// A fixed set of workers. A job is a call of RunPhases; its caller works, too. Thread-safe:
/// several threads may run jobs. While one job has the workers, every other job (also one that a
/// task runs) runs alone on its caller's thread, phase by phase until the workers are free. Jobs
/// never depend on awake workers, so a forked process can run jobs, too. The destructor requires
/// that no job is running.
class ThreadPool {
 public:
  /// Starts threads - 1 workers, because `threads` includes the caller. There are fewer workers if
  /// the system cannot start more.
  explicit ThreadPool(int threads, Pinning pinning = Pinning::kNone);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Returns the requested number of threads, at least 1. Thread numbers are in [0, threads()), and
  /// the caller has number 0. No two threads of a job have the same number.
  int threads() const;
  /// Returns the processor for the calling thread of timed jobs, which no worker is pinned to; none
  /// if the workers are not pinned.
  std::optional<int> CallersProcessor() const;

  /// Runs the phases in order. All tasks of a phase finish, and their writes are visible, before
  /// the next phase begins and before the call returns. Allocates nothing.
  void RunPhases(std::span<const ParallelPhase> phases);

  /// Calls body(int64_t task, int thread) for every task in [0, tasks).
  template <class Body>
  void ParallelFor(int64_t tasks, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    const ParallelPhase phase{[](void* context, int64_t begin, int64_t end, int thread) {
                                for (int64_t task = begin; task < end; ++task)
                                  (*static_cast<Plain*>(context))(task, thread);
                              },
                              const_cast<void*>(static_cast<const void*>(&body)), tasks};
    RunPhases({&phase, 1});
  }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
