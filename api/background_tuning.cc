#include "api/background_tuning.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "support/blocked_signals.h"

namespace tunec {
namespace {

class TuningThread;

/// All tunings in the background. The end of the program stops all tunings before static objects
/// are destroyed, because the threads use static objects. Never destroyed.
class RunningTunings {
 public:
  static RunningTunings& Get() {
    static auto* const all = new RunningTunings;
    return *all;
  }

  void Add(TuningThread* tuning) {
    const std::lock_guard lock(mutex_);
    tunings_.insert(tuning);
  }
  void Remove(TuningThread* tuning) {
    const std::lock_guard lock(mutex_);
    tunings_.erase(tuning);
  }

 private:
  RunningTunings() {
    std::atexit([] { Get().StopAll(); });
  }
  void StopAll();

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::set<TuningThread*> tunings_;
};

class TuningThread final : public BackgroundTuning {
 public:
  TuningThread(ReportedExecutable first, TuneJob tune)
      : current_(Counted(std::move(first.executable))), report_(std::move(first.report)) {
    RunningTunings::Get().Add(this);
    try {
      const BlockedSignals blocked;
      threading_->thread =
          std::thread([this, tune = std::move(tune)]() mutable { Tune(std::move(tune)); });
    } catch (...) {
      RunningTunings::Get().Remove(this);
      throw;
    }
  }
  ~TuningThread() override {
    if (IsFork()) {
      // A fork has no copy of the thread, which may have held or awaited the locks.
      (void)threading_.release();
      return;
    }
    Stop();
    RunningTunings::Get().Remove(this);
  }

  std::shared_ptr<const Executable> Current() const override {
    const std::lock_guard lock(threading_->state);
    return current_;
  }

  Status WaitForRuns() const override {
    std::shared_ptr<const Executable> replaced, current;
    Status first;
    {
      const std::lock_guard lock(threading_->state);
      replaced = replaced_.lock();
      current = current_;
      first = std::exchange(earlier_runs_, {});
    }
    if (replaced) {
      const Status waited = replaced->Wait();
      if (first) first = waited;
    }
    const Status waited = current->Wait();
    return first ? waited : first;
  }

  int64_t CountOutside() const override {
    std::shared_ptr<const Executable> replaced, current;
    {
      const std::lock_guard lock(threading_->state);
      replaced = replaced_.lock();
      current = current_;
    }
    return *outside_before_ + (replaced ? replaced->CountOutside() : 0) + current->CountOutside();
  }

  std::string Report() const override {
    using Json = nlohmann::json;
    const std::lock_guard lock(threading_->state);
    Json report = Json::parse(report_);
    Json& state = report["background"];
    state["state"] = StateText();
    state["trials"] = trials_;
    state["error"] = error_ ? Json(error_->message) : Json();
    return report.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  Result<bool> Wait(double seconds) const override {
    std::unique_lock lock(threading_->state);
    constexpr double kMost = 1e9;  // no clock overflows
    const std::chrono::duration<double> limit(seconds > 0 ? std::min(seconds, kMost) : 0);
    if (!threading_->end.wait_for(lock, limit, [&] { return has_ended_; })) return false;
    if (error_) return std::unexpected(*error_);
    return true;
  }

  void Stop() override {
    Cancel();
    if (IsFork()) return;
    const std::lock_guard lock(threading_->joining);
    if (threading_->thread.joinable()) threading_->thread.join();
  }
  /// Ends the tuning soon, without a wait for its end.
  void Cancel() { stop_ = true; }

 private:
  bool IsFork() const { return getpid() != process_; }

  /// Returns a pointer whose last owner adds the executable's count to `outside_before_`.
  std::shared_ptr<const Executable> Counted(std::shared_ptr<const Executable> executable) const {
    const Executable* const address = executable.get();
    const auto add = [owner = std::move(executable), sum = outside_before_](const Executable* of) {
      *sum += of->CountOutside();
    };
    return {address, add};
  }

  void Tune(TuneJob tune) {
    const TuningHooks hooks{.cancelled = [this] { return stop_.load(); },
                            .on_progress =
                                [this](const TuneProgress& progress) {
                                  const std::lock_guard lock(threading_->state);
                                  trials_ = progress.trials;
                                }};
    Result<ReportedExecutable> tuned = Guarded(tune, hooks);
    tune = nullptr;                              // frees the graph
    std::shared_ptr<const Executable> replaced;  // destroyed without the lock
    {
      const std::lock_guard lock(threading_->state);
      has_ended_ = true;
      if (tuned) {
        replaced = std::exchange(current_, std::move(tuned->executable));
        replaced_ = replaced;
        report_ = std::move(tuned->report);
      } else if (tuned.error().code == ErrorCode::kCancelled) {
        was_stopped_ = true;  // nothing but `stop_` cancels
      } else {
        error_ = std::move(tuned).error();
      }
    }
    threading_->end.notify_all();
    if (!replaced) return;
    const Status waited = replaced->Wait();  // for runs that a device has queued
    const std::lock_guard lock(threading_->state);
    if (earlier_runs_) earlier_runs_ = waited;
  }

  static Result<ReportedExecutable> Guarded(const TuneJob& tune, const TuningHooks& hooks) {
    try {
      return tune(hooks);
    } catch (const std::bad_alloc&) {
      return Fail(ErrorCode::kResourceLimit, "not enough memory");
    } catch (const std::exception& exception) {
      return Fail(ErrorCode::kInternal, "{}", exception.what());
    }
  }

  const char* StateText() const {
    if (!has_ended_) return "tuning";
    if (error_) return "failed";
    return was_stopped_ ? "stopped" : "ended";
  }

  struct Threading {
    std::mutex state;
    std::condition_variable end;
    std::mutex joining;  // guards the thread
    std::thread thread;
  };

  const std::shared_ptr<std::atomic<int64_t>> outside_before_ =
      std::make_shared<std::atomic<int64_t>>(0);
  const pid_t process_ = getpid();
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Threading> threading_ = std::make_unique<Threading>();
  // `threading_->state` guards the members below.
  std::shared_ptr<const Executable> current_;
  std::weak_ptr<const Executable> replaced_;
  mutable Status earlier_runs_;  // the result of WaitForRuns for the replaced executable
  std::string report_;
  int64_t trials_ = 0;
  bool has_ended_ = false;
  bool was_stopped_ = false;
  std::optional<Error> error_;
};

void RunningTunings::StopAll() {
  if (getpid() != process_) return;
  const std::lock_guard lock(mutex_);
  for (TuningThread* tuning : tunings_) tuning->Cancel();
  for (TuningThread* tuning : tunings_) tuning->Stop();
}

}  // namespace

std::unique_ptr<BackgroundTuning> TuneInBackground(ReportedExecutable first, TuneJob tune) {
  return std::make_unique<TuningThread>(std::move(first), std::move(tune));
}

}  // namespace tunec
