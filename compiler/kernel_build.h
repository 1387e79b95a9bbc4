// Functions that build the kernels of fusion groups. A compiled object from the database
// is used if it fits; otherwise the schedule is applied and compiled.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "autotune/best_schedule.h"
#include "compiler/compiler.h"
#include "kernel/compiled_kernel.h"

namespace tunec {

/// The stage of TraceSpans that contain the work on one kernel, except storing the kernel's code.
inline constexpr std::string_view kKernelTrace = "kernel";

struct BuiltKernel {
  std::shared_ptr<const CompiledKernel> code;
  RankedSchedule schedule;
  bool reused = false;             // the object came from the database
  std::vector<std::string> notes;  // the lines that `on_log` received about the schedule
};

/// Tries the task's schedules in order of rank until one has stored code or compiles. A schedule
/// that does not apply, is illegal or exceeds a limit is skipped with a line to `on_detail`. The
/// last schedule, the naive one, always applies. `on_log` receives a warning in three cases: a
/// recorded schedule was skipped, only the naive schedule was left, or the first analytic schedule
/// failed in a trial. A newly compiled object is stored in the database. `packed` returns true for
/// weights that other executables have packed.
Result<BuiltKernel> BuildKernel(const TuningTask& task, Database* database,
                                const CompileOptions& options, const TunerOptions& tuner,
                                const IsPacked& packed = {});

/// Builds the kernels of all tasks on `build_threads` threads, or on fewer if less than 512 MiB of
/// memory are usable for each thread. Results, messages and errors are those of one thread that
/// builds the kernels in order, but lines about a damaged database may come earlier. Callbacks of
/// `options` are called in the caller's thread. Fails with kCancelled if the call is cancelled;
/// kernels that are being compiled are completed first. `packed` has one entry per task, or is
/// empty; its entries are called in all threads.
Result<std::vector<BuiltKernel>> BuildKernels(const std::vector<TuningTask>& tasks,
                                              Database* database, const CompileOptions& options,
                                              const TunerOptions& tuner,
                                              const std::vector<IsPacked>& packed = {});

/// Does the same from rankings that were made earlier, one per task. So the kernels can be those of
/// an earlier state of the database.
Result<std::vector<BuiltKernel>> BuildRankedKernels(const std::vector<TuningTask>& tasks,
                                                    std::vector<ScheduleRanking> rankings,
                                                    Database* database,
                                                    const CompileOptions& options,
                                                    const TunerOptions& tuner);

}  // namespace tunec
