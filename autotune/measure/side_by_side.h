// Threads that do the same work at the same time, each on separate processors if there are enough.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace tunec {

/// The times of a run of several threads at the same time.
struct SideBySide {
  double seconds = 0;  // from the common start to the last thread's end
  double share = 1;    // processor time of the threads / elapsed time; 1: none had to wait
};

/// Returns the processors for thread number `thread` of `threads`. No two threads share a processor
/// if there are enough. Together the threads have all processors. The result is empty if
/// `processors` is empty.
std::vector<int> ProcessorsOf(int thread, int threads, std::span<const int> processors);

/// A team of threads, each on separate processors if there are enough. The threads exist as long as
/// the team, since a new thread shares a processor with its parent for longer than a short run
/// takes. The caller sleeps while the team works.
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Runs `work` on all threads at once, and returns the times. The threads are numbered from 0.
  SideBySide Run(const std::function<void(int thread)>& work);

 private:
  struct Times {
    double wall = 0;
    double processor = 0;
    double end = 0;
  };
  void RunThread(int thread, std::span<const int> processors);
  void RunOnce(int thread);

  std::vector<Times> times_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<uint32_t> rounds_ = 0;  // threads sleep until it is increased
  std::atomic<int> ready_ = 0;
  std::atomic<int> running_ = 0;  // the caller sleeps until it is 0
  std::atomic<double> start_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::jthread> threads_;  // last member, since the threads use the others
};

}  // namespace tunec
