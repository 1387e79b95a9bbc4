// A function that tunes a model. It looks up earlier trials, then measures within the budget.
#pragma once

#include <optional>
#include <vector>

#include "autotune/best_schedule.h"
#include "autotune/tuner.h"
#include "compiler/compiler.h"
#include "compiler/tuning/tasks.h"
#include "db/database.h"

namespace tunec {

struct TunedModel {
  TunerOptions options;  // also used to choose the schedules for compilation
  KnownTrials known;
  TuneReport report;
  /// A ranking of each task's schedules before this tuning; empty if nothing was measured.
  std::vector<ScheduleRanking> before;
  std::optional<GainInModel> in_model;  // set after the kernels are built
};

/// Returns the tuner's options. The list of tasks to tune again is empty.
TunerOptions MakeTunerOptions(const CompileOptions& options);

/// Looks up the trials of the tasks in the database, and measures as the options request. `on_log`
/// receives a note if groups were measured only under less trusted keys. It receives another note
/// if more groups are tuned for other options, else if groups are tuned only under near keys.
/// Errors:
/// - kInvalidArgument: trials or a time limit without a database, `retune` without trials or a time
///   limit, or `retune` with an unknown group.
/// - kDevice: trials for a target that this machine cannot run.
/// - kUnsupported, kNotFound or kDevice: trials for an emulated target without predicted times.
/// - kCancelled: tuning was cancelled; the trials measured before are stored.
/// - The errors of Tune and of the database.
Result<TunedModel> TuneModel(const FrontReport& front, const ModelTasks& tasks, Database* database,
                             const CompileOptions& options);

}  // namespace tunec
