// Tuning: candidates are drawn from the sketches, measured in a worker process, recorded, and
// the fastest correct one of each task is what compilation uses afterwards.
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

/// One task at a glance.
struct TaskProgress {
  std::string description;  // the task's
  double weight = 1;
  double flops = 0;                    // useful operations of one run
  double bytes = 0;                    // its compulsory traffic
  int64_t trials = 0;                  // recorded, failures and earlier runs included
  int64_t measured = 0;                // of these, by this call of Tune
  int64_t failures = 0;                // of these, by this call of Tune: not ok
  std::optional<double> best_seconds;  // of one run
  /// What does the best's multiply-adds; before there is one, those of plain loops.
  std::optional<KernelArithmetic> arithmetic;
  std::optional<Convergence> converged;  // more trials would not help
  std::string problem;                   // why the task cannot be tuned; empty otherwise
};

/// The state after each batch of trials, and after each trial. `tasks` is in the order given.
struct TuneProgress {
  std::vector<TaskProgress> tasks;
  bool predicted = false;      // all times of trials are: nobody measured them
  int64_t trials = 0;          // that count for the budget
  int64_t budget = 0;          // how many may
  int64_t recorded = 0;        // of all tasks, those that other models measured included
  int64_t measured = 0;        // by this call
  double elapsed_seconds = 0;  // of this call
  double compile_seconds = 0;  // the sums over this call's trials; compilation runs on several
  double check_seconds = 0;    // threads, so its sum may exceed the time that passed
  double measure_seconds = 0;
  /// Sum of weight x best over the tasks; none while a task has no correct trial.
  std::optional<double> total_seconds;
  std::optional<Roofline> ceilings;  // of the machine; none: never measured, or not to be
  /// The trial that was just recorded and its task; null in the call after a batch. The record
  /// is durable by then.
  const TrialRecord* latest = nullptr;
  size_t latest_task = 0;
};

struct TunerOptions {
  /// How many trials the tasks may have in all, failures and those of earlier runs included: 500
  /// after 200 measures at most 300 more. What counts is in trial_budget.h.
  int64_t trials = 0;
  double time_limit_seconds = 0;  // of the whole call; 0: none
  /// Tasks, by position, that are taken up again although they have converged, with a budget of
  /// their own; the others rest. Empty: all tasks, as usual.
  std::vector<size_t> retune;
  uint64_t seed = 0;
  Target target;  // with its threads
  Accuracy accuracy;
  SketchSet sketches = SketchSet::kAll;
  /// The measuring program; empty: `tunec-worker` beside the library or the running program.
  std::string worker_path;
  int batch = 12;                     // candidates handed to the worker at once
  double seconds_per_candidate = 10;  // the watchdog's limit for each stage of a candidate
  double seconds_to_prepare = 120;    // for inputs and the float64 result of a workload
  int64_t worker_memory_bytes = 0;    // the worker's limit; 0: three quarters of the machine's
  /// Failing candidates are written here as cases (case.h); empty: none are.
  std::string failure_folder;
  std::string tool_version;  // kept with every trial
  std::function<void(const TuneProgress&)> on_progress;
  std::function<bool()> cancelled;  // asked between messages of the worker; may be empty
};

/// Why a tuning ended.
enum class TuneStop { kNone, kBudget, kConverged, kTimeLimit, kCancelled };

struct TuneReport {
  TuneProgress progress;  // the final state; `latest` is null
  TuneStop stop = TuneStop::kNone;
};

/// In half a line: "64 trials without gain", "within 3 % of the ceiling of 496 GFLOP/s".
std::string Describe(const Convergence& convergence);
/// In one line, without the number of trials: what they came to is the reader's already.
std::string DescribeStop(const TuneReport& report);

/// Where the host stands in for the target's device, times are predicted, and "measures" below
/// means compiles, checks and predicts; what is recorded is kept apart (kPredictionPolicy).
///
/// Measures until the budget or the time is spent, every task has converged or the caller cancels.
/// Nothing converges while others use the machine. Every trial is recorded before it is reported.
/// Tasks of equal workload text share their trials. Without a time limit, the same database, tasks,
/// options, ceilings and times of kernels give the same candidates in the same order.
/// Errors: of the database; kNotFound without a worker program, kIo when that does not answer as
/// one; kInternal when nothing at all could be measured, and for a failure of ours.
Result<TuneReport> Tune(Database& database, const std::vector<TuningTask>& tasks,
                        const TunerOptions& options);

}  // namespace tunec
