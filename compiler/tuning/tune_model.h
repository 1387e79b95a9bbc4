// A function that tunes a model. It looks up earlier trials, then measures within the budget.
#pragma once

#include "autotune/tuner.h"
#include "compiler/compiler.h"
#include "compiler/tuning/tasks.h"
#include "db/database.h"

namespace tunec {

struct TunedModel {
  TunerOptions options;  // also used to choose the schedules for compilation
  KnownTrials known;
  TuneReport report;
};

/// Looks up the trials of the tasks in the database, and measures as the options request. `on_log`
/// receives a note if earlier versions tuned the model, if more groups are tuned for other options,
/// or if groups are tuned only under near keys. Errors:
/// - kInvalidArgument: trials without a database, `retune` without trials or a time limit, or
///   `retune` with the name of an unknown group.
/// - kDevice: trials for a target that this machine cannot run.
/// - kUnsupported or kNotFound: trials for an emulated target whose times cannot be predicted here.
/// - kCancelled: tuning was cancelled; measured trials are stored before.
/// - The errors of Tune.
Result<TunedModel> TuneModel(const FrontReport& front, const ModelTasks& tasks, Database* database,
                             const CompileOptions& options);

}  // namespace tunec
