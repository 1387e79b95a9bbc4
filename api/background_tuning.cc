#include "api/background_tuning.h"

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

/// All tunings in the background. The end of the program stops them, because their threads use
/// objects that the end destroys. Never destroyed.
class RunningTunings {
 public:
  static RunningTunings& Get() {
    static auto* const all = new RunningTunings;
    return *all;
  }

  void Add(BackgroundTuning* tuning) {
    const std::lock_guard lock(mutex_);
    tunings_.insert(tuning);
  }
  void Remove(BackgroundTuning* tuning) {
    const std::lock_guard lock(mutex_);
    tunings_.erase(tuning);
  }

 private:
  RunningTunings() {
    std::atexit([] { Get().StopAll(); });
  }
  void StopAll() {
    const std::lock_guard lock(mutex_);
    for (BackgroundTuning* tuning : tunings_) tuning->Stop();
  }

  std::mutex mutex_;
  std::set<BackgroundTuning*> tunings_;
};

class TuningThread final : public BackgroundTuning {
 public:
  TuningThread(ReportedExecutable first, TuneJob tune)
      : current_(Counted(std::move(first.executable))), report_(std::move(first.report)) {
    const BlockedSignals blocked;
    thread_ = std::thread([this, tune = std::move(tune)]() mutable { Tune(std::move(tune)); });
    RunningTunings::Get().Add(this);
  }
  ~TuningThread() override {
    RunningTunings::Get().Remove(this);
    Join();
  }

  std::shared_ptr<const Executable> Current() const override {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  Status WaitForRuns() const override {
    std::shared_ptr<const Executable> replaced;
    {
      const std::lock_guard lock(mutex_);
      replaced = std::move(replaced_);
    }
    const Status earlier = replaced ? replaced->Wait() : Status();
    const Status later = Current()->Wait();
    return earlier ? later : earlier;
  }

  int64_t CountOutside() const override { return *outside_before_ + Current()->CountOutside(); }

  std::string Report() const override {
    using Json = nlohmann::json;
    const std::lock_guard lock(mutex_);
    Json report = Json::parse(report_);
    Json& state = report["background"];
    state["state"] = StateText();
    state["trials"] = trials_;
    state["error"] = error_ ? Json(error_->message) : Json();
    return report.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  Result<bool> Wait(double seconds) const override {
    std::unique_lock lock(mutex_);
    constexpr double kMost = 1e9;  // no clock overflows
    const auto limit = std::chrono::duration<double>(seconds < kMost ? seconds : kMost);
    if (!end_.wait_for(lock, limit, [&] { return has_ended_; })) return false;
    if (error_) return std::unexpected(*error_);
    return true;
  }

  void Stop() override { Join(); }

 private:
  void Join() {
    stop_ = true;
    const std::lock_guard lock(joining_);
    if (thread_.joinable()) thread_.join();
  }

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
                                  const std::lock_guard lock(mutex_);
                                  trials_ = progress.trials;
                                }};
    Result<ReportedExecutable> tuned = Guarded(tune, hooks);
    tune = nullptr;                              // frees the graph
    std::shared_ptr<const Executable> replaced;  // destroyed without the lock
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
      if (tuned) {
        replaced = std::exchange(current_, std::move(tuned->executable));
        report_ = std::move(tuned->report);
        // Queued runs of a device may have errors that WaitForRuns must return.
        if (replaced->DeviceNumber()) replaced_ = replaced;
      } else if (tuned.error().code == ErrorCode::kCancelled) {
        was_stopped_ = true;  // nothing but `stop_` cancels
      } else {
        error_ = std::move(tuned).error();
      }
    }
    end_.notify_all();
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

  const std::shared_ptr<std::atomic<int64_t>> outside_before_ =
      std::make_shared<std::atomic<int64_t>>(0);
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::condition_variable end_;
  std::shared_ptr<const Executable> current_;
  mutable std::shared_ptr<const Executable> replaced_;  // for WaitForRuns
  std::string report_;
  int64_t trials_ = 0;
  bool has_ended_ = false;
  bool was_stopped_ = false;
  std::optional<Error> error_;
  std::mutex joining_;  // guards the thread
  std::thread thread_;
};

}  // namespace

std::unique_ptr<BackgroundTuning> TuneInBackground(ReportedExecutable first, TuneJob tune) {
  return std::make_unique<TuningThread>(std::move(first), std::move(tune));
}

}  // namespace tunec
