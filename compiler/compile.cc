// The stages from a graph to something that runs, in order. To start reading tunec, start here.
#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/assemble/assemble.h"
#include "compiler/compile_report.h"
#include "compiler/compiler.h"
#include "compiler/kernel_build.h"
#include "compiler/tasks.h"
#include "compiler/tune_model.h"
#include "graph/count_graph.h"
#include "runtime/shared_pool.h"
#include "support/stopwatch.h"

namespace tunec {

Result<CompiledModel> Compile(const Graph& graph, Database* database,
                              const CompileOptions& options) {
  Stopwatch watch;
  // Passes, fusion, lowering. Beyond this point there are no operators, only groups of statements.
  TUNEC_ASSIGN(const FrontReport front, RunFrontEnd(graph, options));
  const double passes_ms = watch.Lap();
  // Groups of equal statements are tuned and compiled once.
  const Tasks tasks = CollectTasks(front, options.target);
  TUNEC_ASSIGN(const TunedModel tuned, TuneModel(front, tasks, database, options));

  watch.Lap();
  // Beyond this point there are no schedules, only code.
  TUNEC_ASSIGN(const std::vector<BuiltKernel> kernels,
               BuildKernels(tasks.unique, database, options, tuned.options));
  const int threads = options.target.host.threads;
  const auto pool =
      options.share_threads ? SharedPool(threads) : std::make_shared<ThreadPool>(threads);
  // Beyond this point every value has its place in memory.
  TUNEC_ASSIGN(ExecutablePlan plan,
               Assemble(front, KernelsOfGroups(front, tasks, kernels), options, *pool));

  CompiledModel model;
  TUNEC_ASSIGN(model.report, MakeReport(front, tasks, tuned, kernels, plan, options));
  TUNEC_ASSIGN(Executable executable, Executable::Make(std::move(plan), pool));
  model.executable = std::make_shared<const Executable>(std::move(executable));
  if (options.on_log) std::ranges::for_each(model.executable->Notes(), options.on_log);
  model.report.nodes_before = static_cast<int>(CountNodes(graph));
  model.report.passes_ms = passes_ms;
  model.report.compile_ms = watch.Milliseconds();
  return model;
}

}  // namespace tunec
