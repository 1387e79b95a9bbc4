#include "autotune/tuner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "autotune/measure/arithmetic_gain.h"
#include "autotune/measure/ceilings.h"
#include "autotune/measure/machine_load.h"
#include "autotune/measure/measure_time.h"
#include "autotune/measure/timing_lock.h"
#include "autotune/search/finalists.h"
#include "autotune/search/task_search.h"
#include "autotune/trial_budget.h"
#include "autotune/tune_with.h"
#include "autotune/worker/case.h"
#include "autotune/worker/find_worker.h"
#include "autotune/worker/worker_measurer.h"

namespace tunec {
namespace {

// The effect of a failed request: the search of its task ends, or the whole tuning ends.
enum class FailureScope { kTaskOnly, kEverything };

FailureScope FindFailureScope(const Error& error) {
  switch (error.code) {
    case ErrorCode::kCancelled:
    case ErrorCode::kIo:
    case ErrorCode::kNotFound:
      return FailureScope::kEverything;
    default:
      return FailureScope::kTaskOnly;
  }
}

class TuningRun {
 public:
  TuningRun(Database& database, const TunerOptions& options, const TuningParts& parts)
      : database_(database),
        options_(options),
        parts_(parts),
        predicts_(PredictsTimes(options.target)),
        start_(parts.clock()),
        ceilings_(database, options.target, parts.ceilings) {}

  Status Load(const std::vector<TuningTask>& tasks);
  Result<TuneReport> Run();

 private:
  Status LoadBudget();
  Status Prepare();
  Result<TuneStop> Search();
  Status Finish(TaskSearch& search, double search_seconds);
  Status LoadNewTrials();
  Status MeetCeiling(const TaskSearch& search);
  Status EndIfDone(TaskSearch& search, bool any);
  Result<bool> RunBatch(TaskSearch& search, const Share& share);
  Status Record(TaskSearch& search, const Candidate& candidate, const Measurement& measurement,
                double seconds);
  void SaveCase(const TaskSearch& search, const Candidate& candidate, TrialRecord& record) const;
  Status CheckMeasured() const;
  int64_t CountRecorded() const;
  bool Cancelled() const { return options_.cancelled && options_.cancelled(); }
  double Elapsed() const { return parts_.clock() - start_; }
  /// Returns true if the fraction `part` of the caller's time limit has passed.
  bool Overdue(double part) const {
    const double limit = options_.time_limit_seconds;
    return limit > 0 && Elapsed() >= part * limit;
  }
  double SpentOf(const TaskSearch& search, double part) const;
  bool AnyOpen() const;
  TuneProgress Progress() const;
  void Announce(const TrialRecord* latest, const TaskSearch* search) const;

  Database& database_;
  const TunerOptions& options_;
  const TuningParts& parts_;
  const bool predicts_;
  double start_;
  Ceilings ceilings_;
  std::optional<TrialBudget> budget_;
  std::vector<std::unique_ptr<TaskSearch>> searches_;
  size_t given_tasks_ = 0;
  std::unique_ptr<Measurer> measurer_;
  TuneProgress sums_;  // `measured` and the seconds of this call
};

Status TuningRun::Load(const std::vector<TuningTask>& tasks) {
  given_tasks_ = tasks.size();
  TUNEC_RETURN_IF_ERROR(ceilings_.Load());
  std::map<std::pair<std::string, std::string>, TaskSearch*> by_key;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const TuningKey key = MakeTuningKey(tasks[i], options_.target, options_.accuracy);
    TaskSearch*& known = by_key[{key.workload.text, key.policy}];
    if (known != nullptr) {
      known->weight += tasks[i].weight;
    } else {
      searches_.push_back(std::make_unique<TaskSearch>(tasks[i], options_, ceilings_));
      known = searches_.back().get();
      TUNEC_RETURN_IF_ERROR(known->Load(database_, parts_.sketches));
    }
    known->positions.push_back(i);
  }
  return LoadBudget();
}

Status TuningRun::LoadBudget() {
  std::vector<TuningKey> keys;
  std::vector<int64_t> recorded;
  for (const auto& search : searches_) {
    keys.push_back(search->key());
    recorded.push_back(search->progress.trials);
  }
  budget_.emplace(database_, std::move(keys), options_.trials);
  TUNEC_RETURN_IF_ERROR(budget_->Load(recorded));
  if (options_.retune.empty()) return {};
  budget_->Renew();
  for (const auto& search : searches_) {
    const auto chosen = [&](size_t position) {
      return std::ranges::find(options_.retune, position) != options_.retune.end();
    };
    search->left_out = std::ranges::none_of(search->positions, chosen);
    if (!search->left_out) TUNEC_RETURN_IF_ERROR(search->Reopen(database_, parts_.sketches));
  }
  return {};
}

int64_t TuningRun::CountRecorded() const {
  int64_t recorded = 0;
  for (const auto& search : searches_) recorded += search->progress.trials;
  return recorded;
}

TuneProgress TuningRun::Progress() const {
  TuneProgress progress = sums_;
  progress.predicted = predicts_;
  progress.budget = budget_->limit();
  progress.trials = budget_->spent();
  progress.recorded = CountRecorded();
  progress.elapsed_seconds = Elapsed();
  progress.ceilings = ceilings_.Known();
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

void TuningRun::Announce(const TrialRecord* latest, const TaskSearch* search) const {
  if (!options_.on_progress) return;
  TuneProgress progress = Progress();
  progress.latest = latest;
  if (search != nullptr) progress.latest_task = search->positions.front();
  options_.on_progress(progress);
}

void TuningRun::SaveCase(const TaskSearch& search, const Candidate& candidate,
                         TrialRecord& record) const {
  const bool is_failure =
      record.status == TrialStatus::kWrongResult || record.status == TrialStatus::kCrashed ||
      record.status == TrialStatus::kTimedOut || record.status == TrialStatus::kOutOfMemory;
  if (options_.failure_folder.empty() || !is_failure) return;
  const Case failing{search.MakeWorkload(),
                     {candidate.schedule},
                     fmt::format("{}: {}", TrialStatusName(record.status), record.message)};
  const auto path = WriteCase(options_.failure_folder, failing);
  record.message += path ? fmt::format(" (case {})", path->string())
                         : fmt::format(" (no case: {})", path.error().message);
}

// The time by which a search ranks a candidate, and the lower end of its interval.
struct RankedTime {
  double seconds = 0;
  double low = 0;
};

// Returns the ratio to the incumbent, times the incumbent's time. So the times of a search are
// comparable, even if the machine's speed changes. Without a ratio, returns the median. A failure
// has zeros.
RankedTime RankTime(const Measurement& measurement, const std::optional<Incumbent>& incumbent) {
  if (measurement.status != TrialStatus::kOk) return {};
  const double median = Median(measurement.samples);
  if (!measurement.ratio || !incumbent) return {median, median};
  return {*measurement.ratio * incumbent->seconds,
          measurement.low_ratio.value_or(*measurement.ratio) * incumbent->seconds};
}

// Records a trial. `seconds` is its RankTime.
Status TuningRun::Record(TaskSearch& search, const Candidate& candidate,
                         const Measurement& measurement, double seconds) {
  TrialRecord record{.status = measurement.status,
                     .schedule = candidate.schedule,
                     .samples = measurement.samples,
                     .accuracy_error = measurement.accuracy_error,
                     .message = measurement.message,
                     .compile_ms = measurement.compile_ms,
                     .check_ms = measurement.check_ms,
                     .measure_ms = measurement.measure_ms,
                     .note = measurement.note.empty()
                                 ? search.DescribeNote(candidate)
                                 : search.DescribeNote(candidate) + " " + measurement.note,
                     .tool_version = options_.tool_version};
  if (record.status == TrialStatus::kOk) {
    record.median_seconds = Median(record.samples);
    record.mad_seconds = MedianDeviation(record.samples);
  }
  // A prediction is not a measurement, so it has no samples.
  if (predicts_) record.samples.clear();
  // The error of a wrong result may be infinite or NaN, which the database cannot store.
  if (record.accuracy_error && !std::isfinite(*record.accuracy_error)) {
    record.accuracy_error.reset();
  }
  SaveCase(search, candidate, record);
  TUNEC_ASSIGN(const RecordOutcome outcome,
               database_.RecordTrial(search.key(), record, budget_->model()));
  if (outcome == RecordOutcome::kAdded) ++search.progress.trials;
  TUNEC_RETURN_IF_ERROR(budget_->Refresh());
  ++search.progress.measured;
  if (record.status != TrialStatus::kOk) ++search.progress.failures;
  ++sums_.measured;
  sums_.compile_seconds += record.compile_ms / 1e3;
  sums_.check_seconds += record.check_ms / 1e3;
  sums_.measure_seconds += record.measure_ms / 1e3;
  if (record.status == TrialStatus::kOk) {
    search.NoteTime(record.schedule, seconds);
    if (measurement.artifact) {
      TUNEC_RETURN_IF_ERROR(
          search.best_code.Add(database_, record.schedule, seconds, *measurement.artifact));
    }
  }
  Announce(&record, &search);
  return {};
}

// Returns the fraction of the task's trials in this call that are spent. The task is expected to
// get `part` of the call's remaining trials. A time limit allows as many trials as the rate of the
// call so far.
double TuningRun::SpentOf(const TaskSearch& search, double part) const {
  auto remaining = static_cast<double>(budget_->Left());
  const double limit = options_.time_limit_seconds;
  if (limit > 0 && sums_.measured > 0) {
    const double left = std::max(limit - Elapsed(), 0.0);
    const double per_trial = Elapsed() / static_cast<double>(sums_.measured);
    remaining = std::min(remaining, left / per_trial);
  }
  const auto own = static_cast<double>(search.progress.measured);
  return own > 0 ? own / (own + part * remaining) : 0;
}

// Measures and records one batch of candidates. Returns false if there is no candidate.
Result<bool> TuningRun::RunBatch(TaskSearch& search, const Share& share) {
  search.EnsureSpace(parts_.sketches);
  TUNEC_ASSIGN(const std::vector<Candidate> candidates,
               search.Propose(share.trials, SpentOf(search, share.part), database_));
  if (candidates.empty()) return false;
  std::vector<CandidateRequest> requests;
  for (const Candidate& candidate : candidates) requests.push_back({candidate.schedule});
  const std::optional<Incumbent> incumbent = search.BestKnown();
  std::map<size_t, std::pair<TrialStatus, RankedTime>> results;
  std::optional<Error> database_error;
  bool spent_by_others = false;
  Status status = measurer_->Measure(
      search.MakeWorkload(), requests, incumbent,
      [&](size_t i, const Measurement& measurement) -> Status {
        const RankedTime time = RankTime(measurement, incumbent);
        results[i] = {measurement.status, time};
        Status recorded = Record(search, candidates[i], measurement, time.seconds);
        if (!recorded) database_error = recorded.error();
        spent_by_others = budget_->Left() == 0 && results.size() < candidates.size();
        if (recorded && spent_by_others) return Fail(ErrorCode::kCancelled, "the budget is spent");
        return recorded;
      });
  // Results arrive in any order. They are added in the order of the proposals, so that the search
  // does not depend on the order of arrival.
  for (const auto& [i, result] : results)
    search.Add(candidates[i], result.first, result.second.seconds, result.second.low);
  if (database_error) return std::unexpected(*database_error);
  if (spent_by_others) status = {};
  if (!status && FindFailureScope(status.error()) == FailureScope::kEverything) {
    return std::unexpected(status.error());
  }
  if (!status) search.progress.problem = status.error().message;
  return true;
}

// Reads the trials of the same tasks that other processes have recorded. They are not measured
// again. If the other process tunes the same model, they count for the budget.
Status TuningRun::LoadNewTrials() {
  TUNEC_RETURN_IF_ERROR(budget_->Refresh());
  for (const auto& search : searches_) TUNEC_RETURN_IF_ERROR(search->LoadNewTrials(database_));
  return {};
}

// Measures the ceiling of the best kernel if NoteRate needs it, as for a kernel above the ceiling.
// If the ceiling has grown, reopens the tasks whose convergence is not valid any more.
Status TuningRun::MeetCeiling(const TaskSearch& search) {
  const auto& arithmetic = search.progress.arithmetic;
  if (!search.progress.best_seconds || !arithmetic) return {};
  TUNEC_ASSIGN(const bool grown, ceilings_.NoteRate(*arithmetic, search.BestFlopsPerSecond()));
  if (!grown) return {};
  for (const auto& other : searches_) TUNEC_RETURN_IF_ERROR(other->ReopenBelowCeiling(database_));
  return {};
}

// Ends the search of a task if no candidate is left (`any` is false). Otherwise measures the
// ceilings that FindConvergence needs, and ends a saturated search. Saturation depends on times, so
// a saturated search continues while other processes use the machine.
Status TuningRun::EndIfDone(TaskSearch& search, bool any) {
  if (!any) return search.RecordConverged(database_, search.Exhausted());
  for (const MacInstruction* rival : search.FindRivalArithmetics()) {
    TUNEC_RETURN_IF_ERROR(ceilings_.EnsureArithmetic(*rival));
  }
  const std::optional<Convergence> saturated = search.FindConvergence();
  if (!saturated || (parts_.machine_is_busy && parts_.machine_is_busy())) return {};
  return search.RecordConverged(database_, *saturated);
}

Result<TuneStop> TuningRun::Search() {
  // The fraction of the time limit for the search. In the rest of the time the fastest candidates
  // are compared.
  constexpr double kSearchPart = 0.9;
  for (;;) {
    if (Cancelled()) return Fail(ErrorCode::kCancelled, "cancelled");
    if (Overdue(kSearchPart)) return TuneStop::kTimeLimit;
    TUNEC_RETURN_IF_ERROR(LoadNewTrials());
    std::vector<TaskState> states;
    for (const auto& search : searches_) states.push_back(search->State());
    const std::optional<Share> share =
        NextShare(states, budget_->Left(), std::max(options_.batch, 1));
    if (!share) return AnyOpen() ? TuneStop::kBudget : TuneStop::kConverged;
    TaskSearch& search = *searches_[share->task];
    TUNEC_ASSIGN(const bool any, RunBatch(search, *share));
    TUNEC_RETURN_IF_ERROR(MeetCeiling(search));
    TUNEC_RETURN_IF_ERROR(EndIfDone(search, any));
    Announce(nullptr, nullptr);
  }
}

bool TuningRun::AnyOpen() const {
  return std::ranges::any_of(searches_, [](const auto& search) { return !search->State().done; });
}

// Fails if no trial is recorded or measured, and some task could not be measured.
Status TuningRun::CheckMeasured() const {
  if (sums_.measured > 0 || CountRecorded() > 0) return {};
  for (const auto& search : searches_) {
    const std::string& problem = search->progress.problem;
    if (problem.empty()) continue;
    return Fail(ErrorCode::kInternal, "nothing could be measured: {}: {}",
                search->progress.description, problem);
  }
  return {};
}

// Measures missing or provisional ceilings of the machine, and compares the ceilings with the best
// kernels of earlier runs.
Status TuningRun::Prepare() {
  TUNEC_RETURN_IF_ERROR(ceilings_.Ensure());
  for (const auto& search : searches_) TUNEC_RETURN_IF_ERROR(MeetCeiling(*search));
  return {};
}

// Chooses one of the fastest candidates, unless times are predicted. Stores the code of the best
// candidate, if this run has the code (BestCode). `search_seconds` is the duration of the search of
// all tasks.
Status TuningRun::Finish(TaskSearch& search, double search_seconds) {
  constexpr double kPart = 0.1;
  constexpr double kLeastSeconds = 0.1;
  constexpr double kMostSeconds = 20;  // far below the watchdog's limit without events
  if (!predicts_) {
    const double own = static_cast<double>(search.progress.measured) /
                       static_cast<double>(std::max<int64_t>(sums_.measured, 1));
    const double before = Elapsed();
    TUNEC_RETURN_IF_ERROR(
        ChooseFinalist(search, *measurer_, database_,
                       std::clamp(kPart * own * search_seconds, kLeastSeconds, kMostSeconds)));
    sums_.compare_seconds += Elapsed() - before;
  }
  const std::optional<Incumbent> best = search.BestKnown();
  return best ? search.best_code.StoreBest(database_, best->schedule) : Status();
}

Result<TuneReport> TuningRun::Run() {
  if (budget_->Left() == 0) return TuneReport{Progress(), TuneStop::kBudget};
  if (!AnyOpen()) return TuneReport{Progress(), TuneStop::kConverged};
  if (options_.before_measuring) TUNEC_RETURN_IF_ERROR(options_.before_measuring());
  TUNEC_ASSIGN(measurer_, parts_.make_measurer());
  TUNEC_RETURN_IF_ERROR(Prepare());
  const double start = Elapsed();
  Result<TuneStop> stop = Search();
  const double search_seconds = Elapsed() - start;
  for (const auto& search : searches_) {
    if (!stop) break;
    if (search->progress.measured == 0) continue;
    const Status finished = Finish(*search, search_seconds);
    if (!finished) stop = std::unexpected(finished.error());
  }
  if (!stop && stop.error().code == ErrorCode::kCancelled) {
    stop = Overdue(1) && !Cancelled() ? TuneStop::kTimeLimit : TuneStop::kCancelled;
  }
  if (!stop) return std::unexpected(std::move(stop).error());
  if (*stop == TuneStop::kBudget || *stop == TuneStop::kConverged) {
    TUNEC_RETURN_IF_ERROR(CheckMeasured());
  }
  Announce(nullptr, nullptr);
  return TuneReport{Progress(), *stop};
}

}  // namespace

Result<TuneReport> TuneWith(Database& database, const std::vector<TuningTask>& tasks,
                            const TunerOptions& options, const TuningParts& parts) {
  TuningRun tuning(database, options, parts);
  TUNEC_RETURN_IF_ERROR(tuning.Load(tasks));
  return tuning.Run();
}

Result<TuneReport> Tune(Database& database, const std::vector<TuningTask>& tasks,
                        const TunerOptions& options) {
  TuningParts parts;
  const double start = parts.clock();
  // The measurer also stops at the time limit, not only when the caller cancels.
  const auto stopped = [&options, start, clock = parts.clock] {
    const double limit = options.time_limit_seconds;
    return (options.cancelled && options.cancelled()) || (limit > 0 && clock() - start >= limit);
  };
  // This process and the worker may have the same lines.
  auto note = [&options, told = std::set<std::string>()](const std::string& line) mutable {
    if (told.insert(line).second && options.on_log) options.on_log(line);
  };
  // Ceilings and the load of the machine are measured in this process, on the processor.
  TimingLock host_lock(HostTimingLockPath(), {.cancelled = stopped, .on_note = std::ref(note)});
  TimingLock* const lock = options.timing_lock ? &host_lock : nullptr;
  parts.make_measurer = [&]() -> Result<std::unique_ptr<Measurer>> {
    std::string path = options.worker_path;
    if (path.empty()) {
      TUNEC_ASSIGN(path, FindWorker());
    }
    const WorkerLimits limits{.seconds_per_candidate = options.seconds_per_candidate,
                              .seconds_to_prepare = options.seconds_to_prepare,
                              .memory_bytes = options.worker_memory_bytes,
                              .timing_lock = options.timing_lock};
    return MakeWorkerMeasurer(std::move(path), limits, stopped, std::ref(note));
  };
  parts.ceilings = {.machine = [&]() -> Result<Roofline> {
                      TUNEC_ASSIGN(const TimingLock::Hold hold, AcquireIfAny(lock));
                      return MeasureRoofline(options.target);
                    },
                    .arithmetic = [&](const MacInstruction& by) -> Result<ArithmeticCeiling> {
                      TUNEC_ASSIGN(const TimingLock::Hold hold, AcquireIfAny(lock));
                      return MeasureArithmetic(options.target, by);
                    }};
  // Predicted times do not depend on the load of the machine, so it is not measured for them.
  if (!PredictsTimes(options.target)) {
    // The measurement of the load takes a fifth of a second, so a busy machine is asked again only
    // after some seconds.
    parts.machine_is_busy = [&, busy_until = 0.0, clock = parts.clock]() mutable {
      constexpr double kSecondsBetween = 5;
      if (clock() < busy_until) return true;
      const Result<TimingLock::Hold> hold = AcquireIfAny(lock);
      if (!hold) return true;  // cancelled
      const int threads = std::min(options.target.host.threads, options.target.host.cores);
      const bool busy = BusyShare(threads) > kMostDisturbance;
      if (busy) busy_until = clock() + kSecondsBetween;
      return busy;
    };
  }
  parts.sketches = [&](const TuningTask& task) {
    return SketchesFor(
        {.lowerings = task.lowerings,
         .target = options.target,
         .rounding = RoundingFreedomFor(options.accuracy),
         .set = options.sketches,
         .gain = MeasuredGain(&database, options.target, {options.timing_lock, stopped})});
  };
  return TuneWith(database, tasks, options, parts);
}

}  // namespace tunec
