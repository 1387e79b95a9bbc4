// Threads that run the tasks of kernels. See thread_pool.cc for the protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace tunec {

/// Runs tasks [begin, end) of one phase on the thread with number `thread`. Must not throw.
using TaskRange = void (*)(void* context, int64_t begin, int64_t end, int thread);

/// Independent tasks: any order, any number at the same time.
struct ParallelPhase {
  TaskRange run = nullptr;
  void* context = nullptr;
  int64_t tasks = 0;
};

enum class Pinning : uint8_t {
  kNone,   // the operating system places the threads
  kCores,  // worker i stays on the i-th processor this process may use
};

/// A fixed set of workers that the caller of each job joins. Thread-safe: several threads may
/// run jobs; while one has the workers, the others run theirs alone on their own thread, phase by
/// phase until the workers are free, and so does a task that itself runs a job. Jobs never depend
/// on the workers being awake, so they also finish in a process forked from this one. The
/// destructor requires that no job is running.
class ThreadPool {
 public:
  /// `threads` counts the caller: threads - 1 workers are started (fewer if the system refuses).
  explicit ThreadPool(int threads, Pinning pinning = Pinning::kNone);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Thread numbers are in [0, threads()); the caller is 0. Within one job, one number is in
  /// use by one thread only.
  int threads() const;

  /// Runs the phases in order; all tasks of a phase finish, and their writes are visible, before
  /// the next phase begins and before the call returns. Allocates nothing.
  void RunPhases(std::span<const ParallelPhase> phases);

  /// body(int64_t task, int thread) for every task in [0, tasks).
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
