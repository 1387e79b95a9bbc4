// Tuning of a model's tasks. Candidates are drawn from the sketches, measured in a worker process
// and recorded. Compilation then chooses a recorded schedule for each task (best_schedule.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "autotune/keys.h"
#include "autotune/measure/roofline.h"
#include "autotune/task.h"
#include "db/database.h"
#include "ir/target.h"
#include "schedule/sketch.h"
#include "support/error.h"

namespace tunec {

/// The progress of one task's search, and the best result.
struct TaskProgress {
  std::string description;  // same as TuningTask::description
  double weight = 1;
  double flops = 0;                    // useful operations of one run
  double bytes = 0;                    // compulsory memory traffic of one run
  int64_t trials = 0;                  // recorded, including failures and earlier runs
  int64_t measured = 0;                // measured by this call of Tune
  int64_t failures = 0;                // failures among `measured`
  std::optional<double> best_seconds;  // time of one run
  /// The arithmetic that does the multiply-adds of the best schedule, or of the plain loops if
  /// there is no correct trial; none if ArithmeticOf returns none.
  std::optional<KernelArithmetic> arithmetic;
  std::optional<Convergence> converged;  // reason why more trials would not help
  std::string problem;                   // reason why the task cannot be tuned, or empty
};

/// The state of a tuning after a trial, after a batch or at the end. `tasks` has the order of
/// Tune's argument.
struct TuneProgress {
  std::vector<TaskProgress> tasks;
  bool predicted = false;      // all times are predictions
  int64_t trials = 0;          // trials charged to the budget
  int64_t budget = 0;          // maximum number of charged trials
  int64_t recorded = 0;        // recorded for all tasks, by any model
  int64_t measured = 0;        // measured by this call
  double elapsed_seconds = 0;  // duration of this call
  double compile_seconds = 0;  // sum over this call's trials and over all compiling threads
  double check_seconds = 0;    // sum over this call's trials
  double measure_seconds = 0;  // sum over this call's trials
  double compare_seconds = 0;  // duration of comparing the finalists of this call
  /// The sum of weight * best_seconds over different tasks; none while a task has no correct trial.
  std::optional<double> total_seconds;
  std::optional<Roofline> ceilings;  // none: not measured, or not applicable
  /// The newly recorded trial, which is already in the database; null after a batch and at the end.
  const TrialRecord* latest = nullptr;
  size_t latest_task = 0;
};

struct TunerOptions {
  /// Maximum number of trials of all tasks. Failures and trials of earlier runs count: if earlier
  /// runs spent 200, a run with 500 measures at most 300 more. trial_budget.h has the definition.
  int64_t trials = 0;
  double time_limit_seconds = 0;  // limit of the whole call; 0: unlimited
  /// Positions of tasks whose search continues even if it has converged, with `trials` new trials
  /// in all. Other tasks are skipped. If the list is empty, all tasks that have not converged are
  /// tuned.
  std::vector<size_t> retune;
  uint64_t seed = 0;
  Target target;       // including the number of threads
  std::string device;  // DeviceChoice::name
  Accuracy accuracy;
  SketchSet sketches = SketchSet::kAll;
  /// Path of the worker program; empty: the result of FindWorker.
  std::string worker_path;
  int batch = 12;                     // candidates sent to the worker at once
  double seconds_per_candidate = 10;  // watchdog limit per stage of a candidate
  double seconds_to_prepare = 120;    // limit for making inputs and reference results
  int64_t worker_memory_bytes = 0;    // 0: three quarters of the machine's memory
  /// Folder for cases (case.h) of candidates that crash, give a wrong result, or exceed the limit
  /// of time or memory. If empty, none is written.
  std::string failure_folder;
  std::string tool_version;  // stored with every trial
  bool timing_lock = true;   // time only while no other tuner of this user does (timing_lock.h)
  /// Called once before the first trial is measured, if any is measured. An error ends the tuning.
  std::function<Status()> before_measuring;
  std::function<void(const TuneProgress&)> on_progress;
  std::function<void(const std::string&)> on_log;  // receives a line for users; may be empty
  std::function<bool()> cancelled;  // called between messages of the worker; may be empty
};

/// The reason why a tuning ended.
enum class TuneStop { kNone, kBudget, kConverged, kTimeLimit, kCancelled };

struct TuneReport {
  TuneProgress progress;  // the final state; `latest` is null
  TuneStop stop = TuneStop::kNone;
};

/// Describes the reason in half a line: "64 trials without gain", "within 3 % of the ceiling of 496
/// GFLOP/s".
std::string Describe(const Convergence& convergence);
/// Describes why the tuning ended, in one line. The result is empty for TuneStop::kNone.
std::string DescribeStop(const TuneReport& report);

/// Tunes the tasks. If the host emulates the target's device, times are predicted: "measures" below
/// then means compiles, checks and predicts. Predicted trials are recorded separately
/// (kPredictionPolicy).
///
/// Measures until the budget or the time is spent, every task has converged or failed, or the
/// caller cancels. While other processes use the machine, a task converges only if no candidate is
/// left. Every trial is recorded before it is reported. Tasks with equal keys (MakeTuningKey) share
/// their trials. Without a time limit, the same database, tasks, options, ceilings and kernel times
/// give the same candidates in the same order. Errors: of the database; kNotFound without a worker
/// program; kIo if the program does not answer as a worker; kInternal if nothing could be measured,
/// and for internal errors.
Result<TuneReport> Tune(Database& database, const std::vector<TuningTask>& tasks,
                        const TunerOptions& options);

}  // namespace tunec
