#include "autotune/measure/side_by_side.h"

#include <algorithm>
#include <ctime>

#include "autotune/measure/read_clock.h"
#include "support/processors.h"

namespace tunec {

std::vector<int> ProcessorsOf(int thread, int threads, std::span<const int> processors) {
  const auto count = static_cast<int>(processors.size());
  std::vector<int> own;
  for (int p = count == 0 ? count : thread % count; p < count; p += threads)
    own.push_back(processors[static_cast<size_t>(p)]);
  return own;
}

ThreadTeam::ThreadTeam(int threads) : times_(static_cast<size_t>(threads)) {
  const std::vector<int> processors = AllowedProcessors();
  for (int thread = 0; thread < threads; ++thread)
    threads_.emplace_back([this, thread, own = ProcessorsOf(thread, threads, processors)] {
      RunThread(thread, own);
    });
}

ThreadTeam::~ThreadTeam() {
  stop_ = true;
  ++rounds_;
  rounds_.notify_all();
}

void ThreadTeam::RunThread(int thread, std::span<const int> processors) {
  RestrictThreadTo(processors);
  for (uint32_t seen = 0;; ++seen) {
    rounds_.wait(seen);
    if (stop_) return;
    RunOnce(thread);
    if (--running_ == 0) running_.notify_one();
  }
}

void ThreadTeam::RunOnce(int thread) {
  // The last thread to arrive starts all threads. The others wait in a loop, so that no thread
  // needs to be woken. If a thread has no processor at the start, the time until it has one counts
  // as lost (SideBySide::share).
  if (++ready_ == std::ssize(times_)) start_ = ReadClock(CLOCK_MONOTONIC);
  while (start_ == 0) std::this_thread::yield();
  const double processor = ReadClock(CLOCK_THREAD_CPUTIME_ID);
  (*work_)(thread);
  Times& own = times_[static_cast<size_t>(thread)];
  own.processor = ReadClock(CLOCK_THREAD_CPUTIME_ID) - processor;
  own.end = ReadClock(CLOCK_MONOTONIC);
  own.wall = own.end - start_;
}

SideBySide ThreadTeam::Run(const std::function<void(int thread)>& work) {
  work_ = &work;
  ready_ = 0;
  start_ = 0;
  running_ = static_cast<int>(times_.size());
  ++rounds_;
  rounds_.notify_all();
  for (int left = running_; left != 0; left = running_) running_.wait(left);
  double wall = 0;
  double processor = 0;
  double end = start_;
  for (const Times& own : times_) {
    wall += own.wall;
    processor += own.processor;
    end = std::max(end, own.end);
  }
  return {.seconds = end - start_, .share = wall > 0 ? std::min(processor / wall, 1.0) : 1};
}

}  // namespace tunec
