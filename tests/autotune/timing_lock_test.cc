// Tests the timing lock: the exclusion of other processes, the ends of a wait, and tuners and
// workers that wait.
#include "autotune/measure/timing_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "autotune/measure/measure.h"
#include "autotune/worker/worker_measurer.h"
#include "db/cache_folder.h"
#include "support/check.h"
#include "support/stopwatch.h"
#include "support/temporary_folder.h"
#include "tests/autotune/scripted_tuning.h"
#include "tests/autotune/workloads.h"

namespace tunec {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kGoodSchedule;
using testing::MatmulRelu;
using testing::TunerTest;
using testing::WorkloadOf;

constexpr double kForever = 1e9;  // seconds
constexpr double kMoment = 0.05;

// Calls `condition` until it returns true.
void WaitUntil(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Sets the variable XDG_CACHE_HOME while this object exists.
class CacheHome {
 public:
  explicit CacheHome(const std::string& folder) {
    if (const char* const value = getenv(kName)) before_ = value;
    setenv(kName, folder.c_str(), 1);
  }
  ~CacheHome() { before_ ? setenv(kName, before_->c_str(), 1) : unsetenv(kName); }
  CacheHome(const CacheHome&) = delete;
  CacheHome& operator=(const CacheHome&) = delete;

 private:
  static constexpr const char* kName = "XDG_CACHE_HOME";
  std::optional<std::string> before_;
};

// Numbers in memory that a forked process shares with this process.
struct Shared {
  std::atomic<int> inside = 0;      // owners of the lock
  std::atomic<int> collisions = 0;  // times at which there were several
  std::atomic<int> done = 0;
  std::atomic<bool> ready = false;
};

class TimingLockTest : public ::testing::Test {
 protected:
  TimingLockTest() {
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
    TUNEC_CHECK(memory != MAP_FAILED, "no memory");
    shared_ = new (memory) Shared;
  }
  void TearDown() override {
    while (!children_.empty()) End(children_.back());
    munmap(shared_, sizeof(Shared));
  }

  pid_t Fork(const std::function<void()>& body) {
    const pid_t child = fork();
    TUNEC_CHECK(child >= 0, "cannot fork");
    if (child == 0) {
      body();
      _exit(0);
    }
    children_.push_back(child);
    return child;
  }

  // Starts a process that has the lock until the process is killed.
  pid_t StartOwner() {
    const pid_t child = Fork([&] {
      TimingLock lock(path_, {});
      const auto hold = lock.Acquire();
      shared_->ready = hold && hold->IsLocked();
      for (;;) pause();
    });
    WaitUntil([&] { return shared_->ready.load(); });
    return child;
  }

  void End(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::erase(children_, child);
  }

  LockWait WaitAtMost(double seconds) {
    return {.on_wait = [&] { ++waits_; },
            .on_note = [&](const std::string& line) { notes_.push_back(line); },
            .most_seconds = seconds};
  }

  TemporaryFolder folder_ = TemporaryFolder::Make().value();
  const std::string path_ = folder_ / "tunec/timing-cpu.lock";
  Shared* shared_ = nullptr;
  std::vector<pid_t> children_;
  std::vector<std::string> notes_;
  int waits_ = 0;
};

// Returns whether the lock is free now.
bool IsFree(const std::string& path) {
  TimingLock lock(path, {.most_seconds = 0});
  return lock.Acquire()->IsLocked();
}

TEST_F(TimingLockTest, TwoProcessesTakeTurns) {
  constexpr int kTurns = 8;
  const auto turns = [&] {
    TimingLock lock(path_, {.most_seconds = kForever});
    for (int turn = 0; turn < kTurns; ++turn) {
      const auto hold = lock.Acquire();
      if (++shared_->inside != 1 || !hold || !hold->IsLocked()) ++shared_->collisions;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      --shared_->inside;
      ++shared_->done;
    }
  };
  Fork(turns);
  Fork(turns);
  WaitUntil([&] { return shared_->done == 2 * kTurns; });
  EXPECT_EQ(shared_->collisions, 0);
}

TEST_F(TimingLockTest, TwoHandlesOfOneProcessExcludeEachOther) {
  TimingLock lock(path_, {});
  {
    const auto hold = lock.Acquire();
    EXPECT_TRUE(hold->IsLocked());
    EXPECT_FALSE(IsFree(path_));
    EXPECT_TRUE(IsFree(folder_ / "tunec/timing-gpu.lock"));
  }
  EXPECT_TRUE(IsFree(path_));
}

TEST_F(TimingLockTest, AKilledOwnerFreesIt) {
  const pid_t owner = StartOwner();
  EXPECT_FALSE(IsFree(path_));
  End(owner);
  EXPECT_TRUE(IsFree(path_));
}

// A stopped owner would otherwise delay each candidate of the others.
TEST_F(TimingLockTest, ALongWaitEndsWithoutTheLock) {
  const pid_t owner = StartOwner();
  TimingLock lock(path_, WaitAtMost(kMoment));
  EXPECT_FALSE(lock.Acquire()->IsLocked());
  EXPECT_GT(waits_, 0);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("other tuners had the lock for 0.05 s")));
  waits_ = 0;
  EXPECT_FALSE(lock.Acquire()->IsLocked());
  EXPECT_EQ(waits_, 0);
  EXPECT_EQ(notes_.size(), 1U);
  End(owner);
  EXPECT_TRUE(lock.Acquire()->IsLocked());
}

TEST_F(TimingLockTest, CancellingEndsAWait) {
  StartOwner();
  int calls = 0;
  TimingLock lock(path_, {.cancelled = [&] { return ++calls == 3; }, .most_seconds = kForever});
  const auto hold = lock.Acquire();
  ASSERT_FALSE(hold);
  EXPECT_EQ(hold.error().code, ErrorCode::kCancelled);
}

TEST_F(TimingLockTest, WithoutAFileThereIsOneNote) {
  for (const auto& [path, why] :
       {std::pair("/proc/nowhere/timing-cpu.lock", "/proc/nowhere: cannot create"),
        std::pair("/proc", "/proc: cannot open"), std::pair("", "set HOME or XDG_CACHE_HOME")}) {
    notes_.clear();
    TimingLock lock(path, WaitAtMost(kForever));
    for (int i = 0; i < 2; ++i) EXPECT_FALSE(lock.Acquire()->IsLocked());
    EXPECT_THAT(notes_,
                ElementsAre(AllOf(HasSubstr("timed without the timing lock: "), HasSubstr(why))));
  }
}

TEST_F(TimingLockTest, AForkedProcessNeitherKeepsNorFreesIt) {
  TimingLock lock(path_, {});
  std::optional<TimingLock::Hold> hold = *lock.Acquire();
  Fork([&] {
    hold.reset();
    shared_->ready = true;
    for (;;) pause();
  });
  Fork([&] {
    ++shared_->done;
    for (;;) pause();
  });
  WaitUntil([&] { return shared_->ready && shared_->done == 1; });
  EXPECT_FALSE(IsFree(path_));
  hold.reset();
  EXPECT_TRUE(IsFree(path_));
}

TEST_F(TimingLockTest, AWaitingHandleGetsIt) {
  std::atomic<bool> waits = false, owns = false;
  TimingLock lock(path_, {.most_seconds = kForever});
  std::optional<TimingLock::Hold> hold = *lock.Acquire();
  std::jthread other([&] {
    TimingLock second(path_, {.on_wait = [&] { waits = true; }, .most_seconds = kForever});
    owns = second.Acquire()->IsLocked();
  });
  WaitUntil([&] { return waits.load(); });
  while (!owns) {
    hold.reset();
    hold.emplace(*lock.Acquire());
  }
}

TEST_F(TimingLockTest, WithoutALockThereIsNothingToHold) {
  EXPECT_FALSE(AcquireIfAny(nullptr)->IsLocked());
}

// The lock is held until the second call of on_wait, which is a tenth of a second after the first.
TEST_F(TimingLockTest, WaitingIsNoPartOfAMeasurement) {
  constexpr double kWaited = 100;  // milliseconds
  ThreadPool pool(2);
  std::optional<TimingLock::Hold> hold;
  TimingLock lock(path_, {.on_wait =
                              [&] {
                                if (++waits_ == 2) hold.reset();
                              },
                          .most_seconds = kForever});
  Result<Workbench> bench = Workbench::Make(WorkloadOf(MatmulRelu()), pool, {}, &lock);
  ASSERT_TRUE(bench) << bench.error().Format();
  CompiledCandidate candidate = bench->Compile({kGoodSchedule});
  TimingLock other(path_, {});
  hold.emplace(*other.Acquire());
  const Stopwatch watch;
  const Measurement measured = bench->Measure(std::move(candidate), std::nullopt);
  EXPECT_EQ(measured.status, TrialStatus::kOk) << measured.message;
  EXPECT_LE(measured.check_ms + measured.measure_ms, watch.Milliseconds() - kWaited);
}

/// A test of a worker that waits for the lock in a separate cache folder.
class WaitingWorkerTest : public TimingLockTest {
 protected:
  WaitingWorkerTest() : home_(folder_ / "."), lock_(TimingLockPath("cpu"), {}) {}

  // Measures a candidate in a worker. `cancelled` is called while the worker is busy.
  Status Measured(std::function<bool()> cancelled) {
    const auto measurer = MakeWorkerMeasurer(
        TUNEC_BINARY_DIR "/bin/tunec-worker", {.seconds_per_candidate = 2, .timing_lock = true},
        std::move(cancelled), [&](const std::string& line) { notes_.push_back(line); });
    const std::vector<CandidateRequest> requests = {{kGoodSchedule}};
    return measurer->Measure(WorkloadOf(MatmulRelu()), requests, std::nullopt,
                             [&](size_t, const Measurement& measured) -> Status {
                               measured_ = measured;
                               return {};
                             });
  }

  const CacheHome home_;
  TimingLock lock_;
  Measurement measured_;
};

// The lock is held for longer than the time limit of a candidate.
TEST_F(WaitingWorkerTest, IsNotOverdue) {
  std::optional<TimingLock::Hold> hold = *lock_.Acquire();
  ASSERT_TRUE(hold->IsLocked());
  const Stopwatch watch;
  const Status status = Measured([&] {
    if (watch.Milliseconds() > 4000) hold.reset();
    return false;
  });
  EXPECT_TRUE(status) << status.error().Format();
  EXPECT_EQ(measured_.status, TrialStatus::kOk) << measured_.message;
  EXPECT_FALSE(hold);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(WaitingWorkerTest, IsStoppedByACancellation) {
  const auto hold = lock_.Acquire();
  const Stopwatch watch;
  const Status status = Measured([&] { return watch.Milliseconds() > 2000; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
}

TEST_F(WaitingWorkerTest, NotesThatThereIsNoLock) {
  const CacheHome nowhere("/proc/nowhere");
  const Status status = Measured([] { return false; });
  EXPECT_TRUE(status) << status.error().Format();
  EXPECT_EQ(measured_.status, TrialStatus::kOk) << measured_.message;
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("/proc/nowhere: cannot create")));
}

// The tuner's process and its worker have the same note.
TEST_F(TunerTest, NotesOnceThatThereIsNoLock) {
  const CacheHome nowhere("/proc/nowhere");
  std::vector<std::string> notes;
  options_.on_log = [&](const std::string& line) { notes.push_back(line); };
  options_.worker_path = TUNEC_BINARY_DIR "/bin/tunec-worker";
  options_.trials = 0;
  tasks_.pop_back();
  for (const bool uses_lock : {true, false}) {
    options_.timing_lock = uses_lock;
    options_.trials += 4;
    notes.clear();
    const Result<TuneReport> report = Tune(*database_, tasks_, options_);
    ASSERT_TRUE(report) << report.error().Format();
    EXPECT_EQ(notes.size(), uses_lock ? 1U : 0U);
  }
}

TEST_F(TunerTest, AWaitForTheLockEndsAtTheTimeLimit) {
  const TemporaryFolder folder = TemporaryFolder::Make().value();
  const CacheHome home(folder / ".");
  TimingLock lock(HostTimingLockPath(), {});
  const auto hold = lock.Acquire();
  ASSERT_TRUE(hold->IsLocked());
  options_.time_limit_seconds = 1;
  options_.worker_path = TUNEC_BINARY_DIR "/bin/tunec-worker";
  const Result<TuneReport> report = Tune(*database_, tasks_, options_);
  ASSERT_TRUE(report) << report.error().Format();
  EXPECT_EQ(report->stop, TuneStop::kTimeLimit);
  EXPECT_EQ(report->progress.measured, 0);
}

}  // namespace
}  // namespace tunec
