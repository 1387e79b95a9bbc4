// The protocol. A phase is published by storing the range of its tasks in `unclaimed_`. A thread
// claims tasks by removing them from the range with compare-and-swap. When no task is free, the
// thread subtracts the number of tasks that it ran from `unfinished_`. The thread that brings
// `unfinished_` to zero publishes the next phase, or ends the job. The protocol has three
// consequences.
//   - A successful claim is for the current phase, even if the thread slept after it read the
//     range. The range alone says which tasks are free.
//   - `phase_` is only read by holders of a claim and by the publishing thread. It is only written
//     when there is no claim, so it needs no lock.
//   - No thread waits for a thread without a claim. If a worker is not scheduled, or is missing
//     after a fork, the other threads claim all tasks. Spinning threads also yield, and they sleep
//     after kSpinTime.
// The size of claims decreases with the number of free tasks (factoring, Hummel et al. 1992): few
// atomic operations when there are many tasks, single tasks at the end. Each claim moves the range
// to another core's cache, which takes 0.1 us in a virtual machine. Threads with even numbers claim
// from the front, the others from the end. If the next phase reads in the same order, a core often
// finds its input in its cache.
#include "runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/blocked_signals.h"
#include "support/processors.h"

namespace tunec {
namespace {

using Clock = std::chrono::steady_clock;

// The time after which a spinning thread sleeps. Spinning bridges the gap between two kernels and
// the uneven end of a kernel. The time is several times the cost of waking a thread (34 us in a
// virtual machine), and short compared with a time slice of the operating system.
constexpr auto kSpinTime = std::chrono::microseconds(200);
// The time of spinning after which each check of the clock also yields the core. With more threads
// than processors, each check yields.
constexpr auto kPauseTime = std::chrono::microseconds(10);
constexpr int kLooksPerClock = 32;
// A claim is at most half of a thread's fair share of the free tasks, but at least one block.
constexpr int64_t kClaimsPerShare = 2;

// A range of a phase's tasks, in blocks so large that 32-bit numbers can count the blocks.
class FreeRange {
 public:
  static FreeRange Of(int64_t tasks) { return {0, (tasks + PieceOf(tasks) - 1) / PieceOf(tasks)}; }
  static FreeRange Unpack(uint64_t packed) {
    return {static_cast<int64_t>(packed >> kBits), static_cast<int64_t>(packed & kMask)};
  }
  uint64_t Pack() const {
    return (static_cast<uint64_t>(begin_) << kBits) | static_cast<uint64_t>(end_);
  }
  /// Returns the number of tasks per block in a phase with `tasks` tasks.
  static int64_t PieceOf(int64_t tasks) { return (tasks >> kBits) + 1; }

  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  int64_t size() const { return end_ - begin_; }
  FreeRange CutFront(int64_t pieces) {
    begin_ += pieces;
    return {begin_ - pieces, begin_};
  }
  FreeRange CutBack(int64_t pieces) {
    end_ -= pieces;
    return {end_, end_ + pieces};
  }

 private:
  static constexpr int kBits = 32;
  static constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  FreeRange(int64_t begin, int64_t end) : begin_(begin), end_(end) {}
  int64_t begin_;
  int64_t end_;
};

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns once `word` differs from `seen`.
void SpinThenSleep(const std::atomic<uint32_t>& word, uint32_t seen, bool share_cores) {
  const auto start = Clock::now();
  for (;;) {
    for (int look = 0; look < kLooksPerClock; ++look) {
      if (word.load(std::memory_order_acquire) != seen) return;
      Pause();
    }
    const auto elapsed = Clock::now() - start;
    if (elapsed > kSpinTime) break;
    if (share_cores || elapsed > kPauseTime) std::this_thread::yield();
  }
  word.wait(seen, std::memory_order_acquire);
}

void RunAlone(std::span<const ParallelPhase> phases) {
  for (const ParallelPhase& phase : phases)
    if (phase.tasks > 0) phase.run(phase.context, 0, phase.tasks, 0);
}

}  // namespace

class ThreadPool::Impl {
 public:
  Impl(int threads, Pinning pinning);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  int threads() const { return threads_; }
  std::optional<int> CallersProcessor() const { return callers_processor_; }
  void RunPhases(std::span<const ParallelPhase> phases);

 private:
  struct Worker {
    Impl* pool;
    int thread;
    pthread_t handle;
  };

  bool StartWorker(int thread);
  void Work(int thread);
  void RunJob(std::span<const ParallelPhase> phases);
  std::optional<FreeRange> Claim(int thread);
  bool RunSome(int thread);
  void Publish();
  void Advance();

  alignas(64) std::atomic<uint64_t> unclaimed_ = 0;  // a FreeRange
  alignas(64) std::atomic<int64_t> unfinished_ = 0;
  // Counts publications of several tasks, and the end of the pool. Idle workers watch this counter.
  alignas(64) std::atomic<uint32_t> published_ = 0;
  // Counts finished phases. The caller of the job watches this counter when no task is left to
  // claim.
  alignas(64) std::atomic<uint32_t> progress_ = 0;
  alignas(64) std::atomic<bool> busy_ = false;  // a caller owns the workers
  std::atomic<bool> done_ = true;               // the current job is done
  std::atomic<bool> stop_ = false;
  const ParallelPhase* phase_ = nullptr;
  const ParallelPhase* end_ = nullptr;

  const int threads_;  // requested number of threads: thread numbers are below it
  const pid_t process_ = getpid();
  bool share_cores_ = false;
  std::optional<int> callers_processor_;
  std::vector<Worker> workers_;
};

ThreadPool::Impl::Impl(int threads, Pinning pinning) : threads_(std::max(threads, 1)) {
  const std::vector<int> processors = DistinctCoresFirst(AllowedProcessors());
  share_cores_ = threads_ > static_cast<int>(processors.size());
  const bool pinned =
      pinning == Pinning::kCores && threads_ > 1 && !share_cores_ && threads_ <= UsableProcessors();
  if (pinned) callers_processor_ = processors[0];
  workers_.reserve(threads_ - 1);  // workers store addresses of its elements
  const BlockedSignals blocked;    // the program's own threads handle signals
  for (int thread = 1; thread < threads_ && StartWorker(thread); ++thread) {
    if (!pinned) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors[thread], &one);
    pthread_setaffinity_np(workers_.back().handle, sizeof one, &one);
  }
}

bool ThreadPool::Impl::StartWorker(int thread) {
  Worker& worker = workers_.emplace_back(this, thread);
  const auto run = [](void* argument) -> void* {
    const auto* self = static_cast<Worker*>(argument);
    self->pool->Work(self->thread);
    return nullptr;
  };
  if (pthread_create(&worker.handle, nullptr, run, &worker) != 0) {
    workers_.pop_back();
    return false;
  }
  pthread_setname_np(worker.handle, "tunec-worker");
  return true;
}

ThreadPool::Impl::~Impl() {
  if (getpid() != process_) return;  // after a fork the workers exist only in the parent
  stop_.store(true);
  published_.fetch_add(1);
  published_.notify_all();
  for (const Worker& worker : workers_) pthread_join(worker.handle, nullptr);
}

// Claims some free tasks for a thread. Returns none if no task was free.
std::optional<FreeRange> ThreadPool::Impl::Claim(int thread) {
  uint64_t seen = unclaimed_.load(std::memory_order_relaxed);
  for (;;) {
    FreeRange left = FreeRange::Unpack(seen);
    if (left.size() == 0) return std::nullopt;
    const int64_t take = std::max<int64_t>(1, left.size() / (kClaimsPerShare * threads_));
    const FreeRange mine = thread % 2 == 0 ? left.CutFront(take) : left.CutBack(take);
    if (unclaimed_.compare_exchange_weak(seen, left.Pack(), std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
      return mine;
    }
  }
}

// Runs tasks of the current phase until none is free. Returns false if there was none.
bool ThreadPool::Impl::RunSome(int thread) {
  int64_t done = 0;
  while (const std::optional<FreeRange> mine = Claim(thread)) {
    const ParallelPhase& phase = *phase_;
    const int64_t piece = FreeRange::PieceOf(phase.tasks);
    const int64_t begin = mine->begin() * piece;
    const int64_t end = std::min(mine->end() * piece, phase.tasks);
    phase.run(phase.context, begin, end, thread);
    done += end - begin;
  }
  // One subtraction for all claims, because each one moves the counter to another core's cache.
  if (done > 0 && unfinished_.fetch_sub(done, std::memory_order_acq_rel) == done) Advance();
  return done > 0;
}

// Opens *phase_ for claims. The order matters: unfinished_ must be set before the first claim.
void ThreadPool::Impl::Publish() {
  const int64_t tasks = phase_->tasks;
  unfinished_.store(tasks, std::memory_order_relaxed);
  unclaimed_.store(FreeRange::Of(tasks).Pack(), std::memory_order_release);
  if (tasks == 1) return;  // the publishing thread runs the task
  published_.fetch_add(1);
  const auto workers = static_cast<int64_t>(workers_.size());
  if (tasks > workers) {
    published_.notify_all();
  } else {
    for (int64_t i = 1; i < tasks; ++i) published_.notify_one();
  }
}

void ThreadPool::Impl::Advance() {
  do ++phase_;
  while (phase_ != end_ && phase_->tasks <= 0);
  if (phase_ != end_) {
    Publish();
  } else {
    done_.store(true, std::memory_order_release);
  }
  progress_.fetch_add(1);
  progress_.notify_one();
}

void ThreadPool::Impl::Work(int thread) {
  for (;;) {
    const uint32_t seen = published_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_acquire)) return;
    if (!RunSome(thread)) SpinThenSleep(published_, seen, share_cores_);
  }
}

void ThreadPool::Impl::RunJob(std::span<const ParallelPhase> phases) {
  phase_ = phases.data();
  end_ = phases.data() + phases.size();
  done_.store(false, std::memory_order_relaxed);
  Publish();
  for (;;) {
    const uint32_t seen = progress_.load(std::memory_order_acquire);
    if (done_.load(std::memory_order_acquire)) return;
    if (!RunSome(0)) SpinThenSleep(progress_, seen, share_cores_);
  }
}

void ThreadPool::Impl::RunPhases(std::span<const ParallelPhase> phases) {
  const auto wide = [](const ParallelPhase& phase) { return phase.tasks > 1; };
  while (!workers_.empty() && std::ranges::any_of(phases, wide)) {
    if (phases.front().tasks > 0 && !busy_.exchange(true, std::memory_order_acquire)) {
      RunJob(phases);
      return busy_.store(false, std::memory_order_release);
    }
    // A wait for the workers could take longer than this phase, so this thread runs the phase.
    RunAlone(phases.first(1));
    phases = phases.subspan(1);
  }
  RunAlone(phases);
}

PinnedThread::PinnedThread(std::optional<int> processor) {
  if (!processor) return;
  before_ = AllowedProcessors();
  RestrictThreadTo({&*processor, 1});
}

PinnedThread::~PinnedThread() { RestrictThreadTo(before_); }

ThreadPool::ThreadPool(int threads, Pinning pinning)
    : impl_(std::make_unique<Impl>(threads, pinning)) {}

ThreadPool::~ThreadPool() = default;

int ThreadPool::threads() const { return impl_->threads(); }

std::optional<int> ThreadPool::CallersProcessor() const { return impl_->CallersProcessor(); }

void ThreadPool::RunPhases(std::span<const ParallelPhase> phases) { impl_->RunPhases(phases); }

}  // namespace tunec
