#include "autotune/tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "autotune/case.h"
#include "autotune/measure_time.h"
#include "autotune/task_search.h"
#include "autotune/tune_with.h"

namespace tunec {
namespace {

// What is left of a Status when a whole request fails: the search of that task ends, or all does.
enum class Fate { kTaskOnly, kEverything };

Fate FateOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kCancelled:
    case ErrorCode::kIo:
    case ErrorCode::kNotFound:
      return Fate::kEverything;
    default:
      return Fate::kTaskOnly;
  }
}

class Tuning {
 public:
  Tuning(Database& database, const TunerOptions& options, const TuningParts& parts)
      : database_(database),
        options_(options),
        parts_(parts),
        start_(std::chrono::steady_clock::now()) {}

  Status Load(const std::vector<TuningTask>& tasks);
  Result<TuneReport> Run();

 private:
  Status Search();
  Result<bool> RunBatch(TaskSearch& search, int count);
  Status Record(TaskSearch& search, const Candidate& candidate, const Measurement& measurement);
  Status RetimeBest(TaskSearch& search);
  Status RecordRetimed(TaskSearch& search, const std::vector<std::string>& schedules,
                       const std::map<size_t, Measurement>& timed);
  void SaveCase(const TaskSearch& search, const Candidate& candidate, TrialRecord& record) const;
  int64_t CountRecorded() const;
  bool Cancelled() const { return options_.cancelled && options_.cancelled(); }
  TuneProgress Progress() const;
  void Announce(const TrialRecord* latest, const TaskSearch* search) const;

  Database& database_;
  const TunerOptions& options_;
  const TuningParts& parts_;
  std::chrono::steady_clock::time_point start_;
  std::vector<std::unique_ptr<TaskSearch>> searches_;
  size_t given_tasks_ = 0;
  std::unique_ptr<Measurer> measurer_;
  TuneProgress sums_;  // of this call: measured and the seconds
};

Status Tuning::Load(const std::vector<TuningTask>& tasks) {
  given_tasks_ = tasks.size();
  std::map<std::string, TaskSearch*> by_text;
  for (size_t i = 0; i < tasks.size(); ++i) {
    TaskSearch*& known = by_text[WorkloadText(tasks[i])];
    if (known != nullptr) {
      known->weight += tasks[i].weight;
    } else {
      searches_.push_back(std::make_unique<TaskSearch>(tasks[i], options_));
      known = searches_.back().get();
      TUNEC_RETURN_IF_ERROR(known->Load(database_, parts_.sketches));
    }
    known->positions.push_back(i);
  }
  return {};
}

int64_t Tuning::CountRecorded() const {
  int64_t recorded = 0;
  for (const auto& search : searches_) recorded += search->progress.trials;
  return recorded;
}

TuneProgress Tuning::Progress() const {
  TuneProgress progress = sums_;
  progress.budget = options_.trials;
  progress.trials = CountRecorded();
  progress.elapsed_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  progress.tasks.resize(given_tasks_);
  progress.total_seconds = 0;
  for (const auto& search : searches_) {
    for (const size_t position : search->positions) {
      progress.tasks[position] = search->progress;
      progress.tasks[position].weight = search->weight;
    }
    const std::optional<double> best = search->progress.best_seconds;
    if (!best) progress.total_seconds.reset();
    if (best && progress.total_seconds) *progress.total_seconds += search->weight * *best;
  }
  return progress;
}

void Tuning::Announce(const TrialRecord* latest, const TaskSearch* search) const {
  if (!options_.on_progress) return;
  TuneProgress progress = Progress();
  progress.latest = latest;
  if (search != nullptr) progress.latest_task = search->positions.front();
  options_.on_progress(progress);
}

void Tuning::SaveCase(const TaskSearch& search, const Candidate& candidate,
                      TrialRecord& record) const {
  const bool kept =
      record.status == TrialStatus::kWrongResult || record.status == TrialStatus::kCrashed ||
      record.status == TrialStatus::kTimedOut || record.status == TrialStatus::kOutOfMemory;
  if (options_.failure_folder.empty() || !kept) return;
  const Case failing{search.MakeWorkload(),
                     {candidate.schedule},
                     fmt::format("{}: {}", TrialStatusName(record.status), record.message)};
  const auto path = WriteCase(options_.failure_folder, failing);
  record.message += path ? fmt::format(" (case {})", path->string())
                         : fmt::format(" (no case: {})", path.error().message);
}

Status Tuning::Record(TaskSearch& search, const Candidate& candidate,
                      const Measurement& measurement) {
  TrialRecord record{.status = measurement.status,
                     .schedule = candidate.schedule,
                     .samples = measurement.samples,
                     .accuracy_error = measurement.accuracy_error,
                     .message = measurement.message,
                     .compile_ms = measurement.compile_ms,
                     .check_ms = measurement.check_ms,
                     .measure_ms = measurement.measure_ms,
                     .note = search.NoteOf(candidate),
                     .tool_version = options_.tool_version};
  if (record.status == TrialStatus::kOk) {
    record.median_seconds = Median(record.samples);
    record.mad_seconds = MedianDeviation(record.samples);
  }
  // Of a wrong result e may be infinite or NaN, which no database keeps.
  if (record.accuracy_error && !std::isfinite(*record.accuracy_error)) {
    record.accuracy_error.reset();
  }
  SaveCase(search, candidate, record);
  TUNEC_ASSIGN(const RecordOutcome outcome, database_.RecordTrial(search.key(), record));
  if (outcome == RecordOutcome::kAdded) ++search.progress.trials;
  ++search.progress.measured;
  if (record.status != TrialStatus::kOk) ++search.progress.failures;
  ++sums_.measured;
  sums_.compile_seconds += record.compile_ms / 1e3;
  sums_.check_seconds += record.check_ms / 1e3;
  sums_.measure_seconds += record.measure_ms / 1e3;
  if (record.status == TrialStatus::kOk) {
    const double best = search.progress.best_seconds.value_or(record.median_seconds);
    search.progress.best_seconds = std::min(best, record.median_seconds);
  }
  Announce(&record, &search);
  return {};
}

// False when the task has nothing left to try.
Result<bool> Tuning::RunBatch(TaskSearch& search, int count) {
  const double spent = static_cast<double>(CountRecorded()) / static_cast<double>(options_.trials);
  search.EnsureSpace(parts_.sketches);
  TUNEC_ASSIGN(const std::vector<Candidate> candidates, search.Propose(count, spent, database_));
  if (candidates.empty()) return false;
  std::vector<CandidateRequest> requests;
  for (const Candidate& candidate : candidates) requests.push_back({candidate.schedule});
  std::map<size_t, TrialRecord> results;
  std::optional<Error> database_error;
  const Status status = measurer_->Measure(
      search.MakeWorkload(), requests, search.progress.best_seconds,
      [&](size_t i, const Measurement& measurement) -> Status {
        Status recorded = Record(search, candidates[i], measurement);
        if (!recorded) database_error = recorded.error();
        const double seconds =
            measurement.status == TrialStatus::kOk ? Median(measurement.samples) : 0;
        results[i] = {.status = measurement.status,
                      .schedule = candidates[i].schedule,
                      .median_seconds = seconds};
        return recorded;
      });
  // In the order proposed, whatever order they came in: the search must not depend on that.
  for (const auto& [i, record] : results) search.Add(candidates[i], record);
  if (database_error) return std::unexpected(*database_error);
  if (!status && FateOf(status.error()) == Fate::kEverything) {
    return std::unexpected(status.error());
  }
  if (!status) search.progress.problem = status.error().message;
  return true;
}

Status Tuning::Search() {
  for (;;) {
    if (Cancelled()) return Fail(ErrorCode::kCancelled, "cancelled");
    std::vector<TaskState> states;
    for (const auto& search : searches_) states.push_back(search->State());
    const std::optional<Share> share =
        NextShare(states, options_.trials - CountRecorded(), std::max(options_.batch, 1));
    if (!share) return {};
    TaskSearch& search = *searches_[share->task];
    TUNEC_ASSIGN(const bool any, RunBatch(search, share->trials));
    if (!any || search.Saturated()) {
      TUNEC_RETURN_IF_ERROR(search.RecordConverged(database_));
    }
    Announce(nullptr, nullptr);
  }
}

// A candidate may have been lucky: those close to the best are timed again in turns.
Status Tuning::RetimeBest(TaskSearch& search) {
  constexpr size_t kMost = 4;
  constexpr double kClose = 1.1;
  constexpr int kRounds = 7;
  std::vector<std::string> schedules;
  std::vector<CandidateRequest> requests;
  for (const Tried& tried : search.Ranked()) {
    if (schedules.size() == kMost) break;
    if (tried.seconds > kClose * search.progress.best_seconds.value_or(0)) break;
    schedules.push_back(tried.schedule);
    requests.push_back({tried.schedule});
  }
  if (schedules.size() < 2) return {};
  std::map<size_t, Measurement> timed;
  const Status status = measurer_->Retime(search.MakeWorkload(), requests, kRounds,
                                          [&](size_t i, const Measurement& measurement) -> Status {
                                            timed[i] = measurement;
                                            return {};
                                          });
  // Nothing is lost when it fails: the times that were recorded stand.
  if (!status) {
    return status.error().code == ErrorCode::kCancelled ? status : Status();
  }
  return RecordRetimed(search, schedules, timed);
}

// The new times order the candidates among themselves. What all of them share against their old
// times is the machine's drift, and is taken out, so that they compare with the rest.
Status Tuning::RecordRetimed(TaskSearch& search, const std::vector<std::string>& schedules,
                             const std::map<size_t, Measurement>& timed) {
  std::vector<std::pair<TrialRecord, double>> again;
  double drift = 0;
  for (const auto& [i, measurement] : timed) {
    if (measurement.status != TrialStatus::kOk || measurement.samples.empty()) continue;
    TUNEC_ASSIGN(std::optional<TrialRecord> record, database_.Find(search.key(), schedules.at(i)));
    if (!record || record->status != TrialStatus::kOk) continue;
    const double seconds = Median(measurement.samples);
    drift += std::log(seconds / record->median_seconds);
    record->samples.insert(record->samples.end(), measurement.samples.begin(),
                           measurement.samples.end());
    record->mad_seconds = MedianDeviation(measurement.samples);
    again.emplace_back(std::move(*record), seconds);
  }
  if (again.size() < 2) return {};
  const double factor = std::exp(drift / static_cast<double>(again.size()));
  for (auto& [record, seconds] : again) {
    record.median_seconds = seconds / factor;
    TUNEC_ASSIGN(const RecordOutcome outcome, database_.RecordTrial(search.key(), record));
    if (outcome == RecordOutcome::kReplaced) search.Retimed(record.schedule, record.median_seconds);
  }
  return {};
}

Result<TuneReport> Tuning::Run() {
  const auto open = [](const auto& search) { return !search->State().done; };
  const bool needed = CountRecorded() < options_.trials && std::ranges::any_of(searches_, open);
  if (!needed) return TuneReport{Progress()};
  TUNEC_ASSIGN(measurer_, parts_.make_measurer());
  Status status = Search();
  for (const auto& search : searches_) {
    if (!status) break;
    if (search->progress.measured > 0) status = RetimeBest(*search);
  }
  const bool cancelled = !status && status.error().code == ErrorCode::kCancelled;
  if (!status && !cancelled) return std::unexpected(std::move(status).error());
  Announce(nullptr, nullptr);
  return TuneReport{Progress(), cancelled};
}

}  // namespace

Result<TuneReport> TuneWith(Database& database, const std::vector<TuningTask>& tasks,
                            const TunerOptions& options, const TuningParts& parts) {
  Tuning tuning(database, options, parts);
  TUNEC_RETURN_IF_ERROR(tuning.Load(tasks));
  return tuning.Run();
}

Result<TuneReport> Tune(Database& database, const std::vector<TuningTask>& tasks,
                        const TunerOptions& options) {
  TuningParts parts;
  parts.make_measurer = [&]() -> Result<std::unique_ptr<Measurer>> {
    std::string path = options.worker_path;
    if (path.empty()) {
      TUNEC_ASSIGN(path, FindWorker());
    }
    const WorkerLimits limits{.seconds_per_candidate = options.seconds_per_candidate,
                              .seconds_to_prepare = options.seconds_to_prepare,
                              .memory_bytes = options.worker_memory_bytes};
    return MakeWorkerMeasurer(std::move(path), limits, options.cancelled);
  };
  parts.sketches = [&](const TuningTask& task) {
    return SketchesFor(task.lowerings, options.target, options.sketches,
                       ArithmeticFor(options.accuracy));
  };
  return TuneWith(database, tasks, options, parts);
}

}  // namespace tunec
