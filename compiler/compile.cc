// Functions that run the stages from a graph to an Executable, in order. Readers who are new to the
// code can start with this file.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/compiler.h"
#include "compiler/model_stages.h"
#include "compiler/report/compile_report.h"
#include "compiler/tuning/confirm_in_model.h"
#include "compiler/weights/shared_packed_weights.h"
#include "compiler/weights/task_packed_weights.h"
#include "runtime/shared_pool.h"
#include "support/stopwatch.h"
#include "support/trace.h"

namespace tunec {

Result<StagedModel> RunStages(const Graph& graph, Database* database,
                              const CompileOptions& options) {
  StagedModel model;
  Stopwatch watch;
  // The front end runs passes, fusion and lowering. Beyond this point there are no operators, only
  // groups of statements.
  TUNEC_ASSIGN(model.front, RunFrontEnd(graph, options));
  model.passes_ms = watch.Lap();
  // Groups with equal text are one task, which is tuned and compiled once.
  model.tasks = CollectTasks(model.front, options.target);
  TUNEC_ASSIGN(model.tuned, TuneModel(model.front, model.tasks, database, options));

  watch.Lap();
  std::vector<IsPacked> packed;
  if (options.packed_weights != nullptr) {
    model.front.contents = HashConstants(model.front);
    packed = PackedWeightsInUse(model.front, model.tasks, *options.packed_weights);
  }
  // Beyond this point there are no schedules, only code.
  TUNEC_ASSIGN(model.kernels,
               BuildKernels(model.tasks.unique, database, options, model.tuned.options, packed));
  const TuneProgress& tuning = model.tuned.report.progress;
  if (tuning.measured > 0 && !tuning.predicted) {
    auto gain = ConfirmInModel(model.front, model.tasks, std::move(model.tuned.before), *database,
                               options, model.tuned.options, model.kernels);
    const auto stops = [](const Error& error) {
      return error.code == ErrorCode::kCancelled || error.code == ErrorCode::kInternal ||
             error.code == ErrorCode::kIo;
    };
    if (!gain && stops(gain.error())) return std::unexpected(gain.error());
    // The tuned model is complete without the comparison, for which memory may be missing.
    if (!gain && options.on_log)
      options.on_log(fmt::format("the tuned model was not compared with the earlier one: {}",
                                 gain.error().message));
    if (gain) model.tuned.in_model = *gain;
  }
  model.groups = KernelsOfGroups(model.front, model.tasks, model.kernels);
  model.build_ms = watch.Milliseconds();
  return model;
}

Result<CompiledModel> Compile(const Graph& graph, Database* database,
                              const CompileOptions& options) {
  TUNEC_ASSIGN(const StagedModel staged, RunStages(graph, database, options));
  const Stopwatch watch;
  const int threads = options.target.host.threads;
  const auto pool =
      options.share_threads ? SharedPool(threads) : std::make_shared<ThreadPool>(threads);
  // Beyond this point every argument of a kernel has a buffer and an offset.
  TUNEC_ASSIGN(AssembledPlan assembled, Assemble(staged.front, staged.groups, options, *pool));

  CompiledModel model;
  TUNEC_ASSIGN(model.report, MakeReport(graph, staged, assembled.plan, options));
  {
    const TraceScope scope("pack weights");
    TUNEC_ASSIGN(Executable executable, Executable::Make(std::move(assembled.plan), pool));
    model.executable = std::make_shared<const Executable>(std::move(executable));
  }
  if (options.packed_weights != nullptr)
    AddPackedWeights(staged, model.executable, *options.packed_weights);
  if (options.on_log) std::ranges::for_each(model.executable->Notes(), options.on_log);
  model.report.compile_ms = staged.build_ms + watch.Milliseconds();
  return model;
}

}  // namespace tunec
