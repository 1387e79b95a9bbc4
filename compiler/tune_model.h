// The tuning of a model: what is known of its groups, and what its budget buys.
#pragma once

#include "autotune/tuner.h"
#include "compiler/compiler.h"
#include "compiler/tasks.h"
#include "db/database.h"

namespace tunec {

struct TunedModel {
  TunerOptions options;  // by which the schedules to compile with are chosen, too
  KnownTrials known;
  TuneReport report;
};

/// Looks up what the database has of the tasks, and measures what the options ask for. A note to
/// `on_log` where the model is tuned for others only. Errors: kInvalidArgument for trials without
/// a database and for groups to be tuned again that there are not; kDevice for a target that this
/// machine is not, unless it is emulated: then times are predicted, and kUnsupported or kNotFound
/// says what keeps them from being; kCancelled after what was measured has been kept; those of
/// Tune.
Result<TunedModel> TuneModel(const FrontReport& front, const Tasks& tasks, Database* database,
                             const CompileOptions& options);

}  // namespace tunec
