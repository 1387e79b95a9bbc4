// Comparison of a tuned model with the model before tuning. A schedule that is faster alone is not
// always faster in the model, where other kernels use the same caches.
#pragma once

#include <optional>
#include <vector>

#include "autotune/best_schedule.h"
#include "autotune/tuner.h"
#include "compiler/compiler.h"
#include "compiler/kernel_build.h"
#include "compiler/tuning/tasks.h"
#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Returns a ranking of each task's schedules, made from the trials that the database has now.
Result<std::vector<ScheduleRanking>> RankTasks(const Database* database, const ModelTasks& tasks,
                                               const TunerOptions& tuner);

/// Runs the tuned model in turns with the model before tuning, whose schedules are the first of
/// `before`. Both together run for about 5 s, or a tenth of the time limit, and at least seven
/// times each. In this time, both are loaded up to five times, because the addresses of buffers
/// change the times. If the kernels of a task do not become faster in the model, the earlier
/// schedule is chosen again, and `kernels` gets its code. The same is done for all tasks if the
/// model becomes slower. `on_log` receives a line for each task and one for the model. Returns none
/// if no kernel has changed, or if there is not enough memory for two models. Errors: those of
/// BuildKernels, Assemble and of running; kCancelled.
Result<std::optional<GainInModel>> ConfirmInModel(const FrontReport& front, const ModelTasks& tasks,
                                                  std::vector<ScheduleRanking> before,
                                                  Database& database, const CompileOptions& options,
                                                  const TunerOptions& tuner,
                                                  std::vector<BuiltKernel>& kernels);

}  // namespace tunec
