// The worker receives one request at a time. Events of a MeasureRequest name the candidates in
// flight, which have a deadline until they are compiled or measured. Candidates may end the worker:
//   - A deadline passes. The worker is killed, and the late candidate has timed out.
//   - The worker dies with one candidate in flight. The candidate has crashed or lacked memory.
//   - The worker dies with several candidates in flight. All are suspects and are repeated alone.
//   - The device fails at a candidate. The worker sends the candidate's result and ends.
// All candidates without a result are then sent again to a new worker.
#include "autotune/worker/worker_measurer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "autotune/worker/protocol.h"
#include "autotune/worker/worker_process.h"
#include "device/open_device.h"
#include "support/usable_memory.h"

namespace tunec {
namespace {

using SteadyTime = std::chrono::steady_clock;

SteadyTime::time_point After(double seconds) {
  return SteadyTime::now() +
         std::chrono::duration_cast<SteadyTime::duration>(std::chrono::duration<double>(seconds));
}

int64_t DefaultMemoryLimit() { return UsableMemory() / 4 * 3; }

// The way in which the exchange of messages about one request ended.
enum class Outcome { kDone, kDied, kOverdue };

class WorkerMeasurer : public Measurer {
 public:
  WorkerMeasurer(std::string path, WorkerLimits limits, std::function<bool()> cancelled,
                 std::function<void(const std::string&)> on_note)
      : path_(std::move(path)),
        limits_(limits),
        cancelled_(std::move(cancelled)),
        on_note_(std::move(on_note)) {
    if (limits_.memory_bytes == 0) limits_.memory_bytes = DefaultMemoryLimit();
  }

  Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                 const std::optional<Incumbent>& incumbent,
                 const OnMeasured& on_measured) override {
    Open open;
    for (size_t i = 0; i < candidates.size(); ++i) open.together.push_back(i);
    std::span<const CandidateRequest> ahead = candidates;
    for (int idle_deaths = 0; idle_deaths < 3;) {
      if (open.together.empty() && open.alone.empty()) return {};
      // After the death of a worker, nothing is compiled ahead: a candidate may be the cause.
      TUNEC_RETURN_IF_ERROR(Prepare(workload, std::exchange(ahead, {})));
      TUNEC_ASSIGN(const bool progress, Round(candidates, incumbent, on_measured, open));
      idle_deaths = progress ? 0 : idle_deaths + 1;
    }
    return Fail(ErrorCode::kInternal, "the worker died between candidates: {}", ending_.text);
  }

  Status Compare(const Workload& workload, std::span<const CandidateRequest> candidates,
                 double seconds, const OnMeasured& on_measured) override {
    TUNEC_RETURN_IF_ERROR(Prepare(workload, {}));
    const CompareRequest request{{candidates.begin(), candidates.end()}, seconds};
    TUNEC_ASSIGN(const Outcome outcome, Exchange(request, candidates.size(), on_measured));
    if (outcome == Outcome::kDone) return {};
    return Fail(ErrorCode::kInternal, "the worker ended while comparing: {}", ending_.text);
  }

 private:
  // The candidates that have no result yet.
  struct Open {
    std::vector<size_t> together;  // sent in one request
    std::vector<size_t> alone;     // suspects, sent one by one afterwards
  };

  // Sends one request for open candidates, and handles its end. Returns false if the worker died or
  // was killed without any result and without a candidate in flight.
  Result<bool> Round(std::span<const CandidateRequest> candidates,
                     const std::optional<Incumbent>& incumbent, const OnMeasured& on_measured,
                     Open& open) {
    const std::vector<size_t> ids =
        open.together.empty() ? std::vector<size_t>{open.alone.front()} : open.together;
    MeasureRequest request{.incumbent = incumbent};
    for (const size_t id : ids) request.candidates.push_back(candidates[id]);
    std::set<size_t> finished;
    const auto report = [&](size_t position, const Measurement& measurement) -> Status {
      if (!finished.insert(ids[position]).second)
        return Fail(ErrorCode::kInternal, "the worker answered twice for candidate {}", position);
      return on_measured(ids[position], measurement);
    };
    TUNEC_ASSIGN(const Outcome outcome, Exchange(request, ids.size(), report));
    if (outcome == Outcome::kDone && finished.size() < ids.size()) {
      return Fail(ErrorCode::kInternal, "the worker did not answer for all candidates");
    }
    bool progress = true;
    if (outcome != Outcome::kDone) {
      TUNEC_ASSIGN(const bool blamed, Blame(outcome, ids, report, open.alone));
      progress = blamed || !finished.empty();
    }
    std::erase_if(open.alone, [&](size_t id) { return finished.contains(id); });
    std::erase_if(open.together, [&](size_t id) {
      return finished.contains(id) || std::ranges::find(open.alone, id) != open.alone.end();
    });
    return progress;
  }

  // Returns the memory limit of the worker in bytes, 0 for no limit. A worker for a real device has
  // none: the driver's mappings count as data of the process, though few of them are memory.
  int64_t MemoryFor(const Target& target) const {
    const bool on_device = target.device && !EmulatedTarget(target);
    return on_device ? 0 : limits_.memory_bytes;
  }

  // Starts a worker if needed. Sends the workload unless the worker prepared the same one last. The
  // worker compiles the first ones of `ahead` while it computes the reference. If this fails, the
  // reference is computed alone, so that only a MeasureRequest blames a candidate.
  Status Prepare(const Workload& workload, std::span<const CandidateRequest> ahead) {
    PrepareRequest prepare{workload, limits_.timing_lock, {}};
    std::string request = Encode(prepare);
    if (worker_ && prepared_ == request) return {};
    for (int attempt = 0;; ++attempt) {
      if (!worker_) {
        TUNEC_ASSIGN(worker_, WorkerProcess::Start(path_, MemoryFor(workload.target)));
        TUNEC_RETURN_IF_ERROR(Greet());
      }
      prepared_.clear();
      if (attempt == 0) prepare.ahead.assign(ahead.begin(), ahead.end());
      const Result<Outcome> outcome = Exchange(prepare, 0, {});
      if (outcome && *outcome == Outcome::kDone) break;
      const bool no_memory = !outcome && outcome.error().code == ErrorCode::kResourceLimit;
      if (!outcome && !no_memory) return std::unexpected(outcome.error());
      if (!std::exchange(prepare.ahead, {}).empty()) continue;
      if (no_memory) return std::unexpected(outcome.error());
      if (*outcome == Outcome::kOverdue) {
        return Fail(ErrorCode::kResourceLimit, "the reference took over {} s",
                    limits_.seconds_to_prepare);
      }
      if (attempt > 0) {
        return Fail(ErrorCode::kInternal, "the worker died computing the reference: {}",
                    ending_.text);
      }
    }
    prepared_ = std::move(request);
    return {};
  }

  // Stops the program, and returns the error that it does not answer as a worker of this build. If
  // `why` is empty, the reason is how the program ended.
  Status NotAWorker(const std::string& why) {
    (void)StopWorker(Outcome::kDied);
    return Fail(ErrorCode::kIo, "'{}' does not answer as the tunec-worker of this tunec: {}", path_,
                why.empty() ? ending_.text : why);
  }

  // Stops the started program unless it answers as a worker of this protocol version.
  Status Greet() {
    constexpr size_t kLongest = size_t{1} << 16;
    const auto deadline = After(limits_.seconds_to_greet);
    (void)worker_->Send(HelloRequest{});  // an ended program is detected below
    for (;;) {
      if (cancelled_ && cancelled_()) {
        (void)StopWorker(Outcome::kDied);
        return Fail(ErrorCode::kCancelled, "cancelled");
      }
      const auto event = worker_->Receive(std::min(deadline, After(0.1)), kLongest);
      if (!event) {
        const bool has_ended = event.error().code == ErrorCode::kIo;
        return NotAWorker(has_ended ? "" : event.error().message);
      }
      if (!*event && SteadyTime::now() >= deadline) {
        return NotAWorker(fmt::format("no answer within {} s", limits_.seconds_to_greet));
      }
      if (!*event) continue;
      if (std::holds_alternative<DoneEvent>(**event)) return {};
      const auto* failed = std::get_if<FailedEvent>(&**event);
      return NotAWorker(failed != nullptr ? failed->error.message : "an unexpected answer");
    }
  }

  // Sends a request for `count` candidates and handles its events until the DoneEvent. Stops the
  // worker after a failure before this event. Returns a FailedEvent as an error.
  Result<Outcome> Exchange(const Request& request, size_t count, const OnMeasured& on_measured) {
    in_flight_.clear();
    overdue_.reset();
    if (!worker_->Send(request)) return StopWorker(Outcome::kDied);
    std::optional<Error> failure;
    auto idle_deadline = After(limits_.seconds_to_prepare);
    for (;;) {
      if (cancelled_ && cancelled_()) return Abort({ErrorCode::kCancelled, "cancelled", {}});
      const auto deadline = NextDeadline(idle_deadline);
      const auto event = worker_->Receive(std::min(deadline, After(0.1)));
      if (!event && event.error().code != ErrorCode::kIo) return Abort(event.error());
      if (!event) return StopWorker(Outcome::kDied);
      if (!*event) {
        if (SteadyTime::now() < deadline) continue;
        return StopWorker(Outcome::kOverdue);
      }
      idle_deadline = After(limits_.seconds_to_prepare);
      if (std::holds_alternative<DoneEvent>(**event)) break;
      if (const auto* failed = std::get_if<FailedEvent>(&**event)) failure = failed->error;
      const Status handled = HandleEvent(**event, count, on_measured);
      if (!handled) return Abort(handled.error());
    }
    if (failure) return std::unexpected(*failure);
    return Outcome::kDone;
  }

  std::unexpected<Error> Abort(Error error) {
    (void)StopWorker(Outcome::kDied);
    return std::unexpected(std::move(error));
  }

  // Records that a candidate is in flight, or reports its result. Fails if the event names a
  // candidate that is not one of `count`.
  Status HandleEvent(const Event& event, size_t count, const OnMeasured& on_measured) {
    const auto check = [count](size_t candidate) -> Status {
      if (candidate < count) return {};
      return Fail(ErrorCode::kInternal,
                  "the worker answered for candidate {}, which was not requested", candidate);
    };
    if (const auto* started = std::get_if<StartedEvent>(&event)) {
      TUNEC_RETURN_IF_ERROR(check(started->candidate));
      in_flight_[started->candidate] = After(limits_.seconds_per_candidate);
    }
    if (std::holds_alternative<WaitingEvent>(event)) {
      for (auto& [candidate, deadline] : in_flight_)
        deadline = After(limits_.seconds_per_candidate);
    }
    if (const auto* note = std::get_if<NoteEvent>(&event)) {
      if (on_note_) on_note_(note->line);
    }
    if (const auto* compiled = std::get_if<CompiledEvent>(&event)) {
      in_flight_.erase(compiled->candidate);
    }
    const auto* finished = std::get_if<FinishedEvent>(&event);
    if (finished == nullptr) return {};
    TUNEC_RETURN_IF_ERROR(check(finished->candidate));
    in_flight_.erase(finished->candidate);
    return on_measured(finished->candidate, finished->measurement);
  }

  // Returns the earliest deadline of the candidates in flight, and sets `overdue_` to the candidate
  // with this deadline. Without candidates in flight, returns `idle` and sets `overdue_` to none.
  SteadyTime::time_point NextDeadline(SteadyTime::time_point idle) {
    overdue_.reset();
    SteadyTime::time_point earliest = idle;
    for (const auto& [candidate, deadline] : in_flight_) {
      if (overdue_ && deadline >= earliest) continue;
      earliest = deadline;
      overdue_ = candidate;
    }
    return earliest;
  }

  Outcome StopWorker(Outcome outcome) {
    ending_ = worker_->Stop();
    worker_.reset();
    prepared_.clear();
    return outcome;
  }

  // Reports the failure of the candidate that was late or ended the worker. If the worker died with
  // several in flight, adds these to `alone` instead. Returns false if no candidate was in flight.
  Result<bool> Blame(Outcome outcome, const std::vector<size_t>& ids, const OnMeasured& report,
                     std::vector<size_t>& alone) {
    if (outcome == Outcome::kOverdue) {
      if (!overdue_) return false;
      Measurement timed_out{.status = TrialStatus::kTimedOut};
      timed_out.message = fmt::format("not done after {} s", limits_.seconds_per_candidate);
      TUNEC_RETURN_IF_ERROR(report(*overdue_, timed_out));
      return true;
    }
    if (in_flight_.empty()) return false;
    if (in_flight_.size() > 1) {
      for (const auto& [position, deadline] : in_flight_) alone.push_back(ids[position]);
      return true;
    }
    Measurement crashed{.status = ending_.out_of_memory ? TrialStatus::kOutOfMemory
                                                        : TrialStatus::kCrashed};
    crashed.message = ending_.text;
    TUNEC_RETURN_IF_ERROR(report(in_flight_.begin()->first, crashed));
    return true;
  }

  std::string path_;
  WorkerLimits limits_;
  std::function<bool()> cancelled_;
  std::function<void(const std::string&)> on_note_;
  std::optional<WorkerProcess> worker_;
  std::string prepared_;                                // last PrepareRequest of the worker
  std::map<size_t, SteadyTime::time_point> in_flight_;  // position in the request -> deadline
  std::optional<size_t> overdue_;
  WorkerProcess::Ending ending_;
};

}  // namespace

std::unique_ptr<Measurer> MakeWorkerMeasurer(std::string worker_path, WorkerLimits limits,
                                             std::function<bool()> cancelled,
                                             std::function<void(const std::string&)> on_note) {
  return std::make_unique<WorkerMeasurer>(std::move(worker_path), limits, std::move(cancelled),
                                          std::move(on_note));
}

}  // namespace tunec
