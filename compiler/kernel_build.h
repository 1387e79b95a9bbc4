// Kernels of fusion groups: from the database where it has the compiled object, else by
// applying the schedule and compiling.
#pragma once

#include <memory>
#include <vector>

#include "autotune/best_schedule.h"
#include "compiler/compiler.h"
#include "kernel/compiled_kernel.h"

namespace tunec {

struct BuiltKernel {
  std::shared_ptr<const CompiledKernel> code;
  RankedSchedule schedule;
  bool reused = false;             // the object came from the database
  std::vector<std::string> notes;  // what `on_log` was told of the schedule
};

/// Tries the task's schedules in order of rank until one applies and compiles. An illegal or
/// unsupported schedule is passed over with a line to `on_detail`; the naive one always applies,
/// with a line to `on_log` that it is slow. `packed`: what other executables have of its weights.
Result<BuiltKernel> BuildKernel(const TuningTask& task, Database* database,
                                const CompileOptions& options, const TunerOptions& tuner,
                                IsPacked packed = {});

/// The kernels of all tasks, with a line to `on_log` where an analytic schedule had failed.
/// kCancelled between two of them. `packed`: for each task; or nothing.
Result<std::vector<BuiltKernel>> BuildKernels(const std::vector<TuningTask>& tasks,
                                              Database* database, const CompileOptions& options,
                                              const TunerOptions& tuner,
                                              const std::vector<IsPacked>& packed = {});

}  // namespace tunec
