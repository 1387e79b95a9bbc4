#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "autotune/fallback.h"
#include "compiler/assemble.h"
#include "compiler/compiler.h"
#include "compiler/front_end.h"
#include "compiler/kernel_build.h"
#include "compiler/known_trials.h"
#include "compiler/tasks.h"
#include "graph/count_graph.h"
#include "jit/detect_cpu.h"
#include "support/check.h"
#include "support/hash.h"
#include "support/stopwatch.h"

namespace tunec {
namespace {

TunerOptions MakeTunerOptions(const CompileOptions& options) {
  const bool timed = options.trials == 0 && options.time_limit_seconds > 0;
  return {.trials = timed ? kUnlimitedTrials : options.trials,
          .time_limit_seconds = options.time_limit_seconds,
          .seed = options.seed,
          .target = options.target,
          .accuracy = options.accuracy,
          .sketches = options.sketches,
          .worker_path = options.worker_path,
          .failure_folder = options.failure_folder,
          .tool_version = TUNEC_VERSION,
          .on_progress = options.on_progress,
          .cancelled = options.cancelled};
}

/// What the kernels of a task's groups have in common: everything but their names.
KernelReport Describe(const TuningTask& task, const BuiltKernel& built) {
  const Work work = CountWork(task.lowerings[0].compute);
  return {.kind = task.kind,
          .workload = StableHash(WorkloadText(task)),
          .schedule = Print(built.schedule.schedule),
          .sketch_source = std::string(Name(SourceOf(built.schedule))),
          .flops = work.flops,
          .bytes = work.bytes,
          .phases = static_cast<int>(built.code.object.phases.size()),
          .multiply_adds = built.code.multiply_adds,
          .vector_multiply_adds = built.code.vector_multiply_adds};
}

// The kernels of all tasks, compiled or reused.
Result<std::vector<BuiltKernel>> BuildAll(const Tasks& tasks, Database* database,
                                          const CompileOptions& options, const TunerOptions& tuner,
                                          CompileReport& report) {
  std::vector<BuiltKernel> kernels;
  for (const TuningTask& task : tasks.unique) {
    if (options.cancelled && options.cancelled()) {
      return Fail(ErrorCode::kCancelled, "cancelled while compiling");
    }
    TUNEC_ASSIGN(BuiltKernel built, BuildKernel(task, database, options, tuner));
    (built.reused ? report.objects_reused : report.objects_compiled) += 1;
    TUNEC_ASSIGN(const std::optional<std::string> note,
                 DescribeFallback(database, task, tuner, built.schedule));
    if (note && options.on_log) options.on_log(*note);
    kernels.push_back(std::move(built));
  }
  return kernels;
}

// The tasks of the groups to be tuned again.
Result<std::vector<size_t>> TasksToRetune(const FrontReport& front, const Tasks& tasks,
                                          const CompileOptions& options) {
  std::vector<size_t> chosen;
  if (!options.retune.empty() && !options.Tunes()) {
    return Fail(ErrorCode::kInvalidArgument, "tuning again needs trials or a time limit");
  }
  for (const std::string& name : options.retune) {
    if (name == "all") return tasks.of_group;
    TUNEC_ASSIGN(const size_t group, FindGroup(front, name));
    chosen.push_back(tasks.of_group[group]);
  }
  return chosen;
}

// What is known, and a note where what is known is for others.
Result<KnownTrials> LookUp(const Database* database, const Tasks& tasks,
                           const CompileOptions& options) {
  if (database == nullptr) return KnownTrials{.groups = std::ssize(tasks.unique)};
  TUNEC_ASSIGN(KnownTrials known, FindKnownTrials(*database, tasks, options));
  if (!known.elsewhere.empty() && options.on_log) options.on_log(known.elsewhere);
  return known;
}

Result<TuneReport> TuneTasks(Database* database, const Tasks& tasks, const TunerOptions& tuner) {
  if (tuner.trials == 0) return TuneReport{};
  if (database == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "trials need a database to be kept in");
  }
  TUNEC_RETURN_IF_ERROR(CheckRunsHere(tuner.target));
  TUNEC_ASSIGN(TuneReport report, Tune(*database, tasks.unique, tuner));
  if (report.stop == TuneStop::kCancelled) {
    return Fail(ErrorCode::kCancelled, "cancelled while tuning; what was measured is kept");
  }
  return report;
}

}  // namespace

Result<CompiledModel> Compile(const Graph& graph, Database* database,
                              const CompileOptions& options) {
  CompiledModel model;
  CompileReport& report = model.report;
  const Stopwatch front_time;
  TUNEC_ASSIGN(const FrontReport front, RunFrontEnd(graph, options));
  report.passes_ms = front_time.Milliseconds();
  report.nodes_before = static_cast<int>(CountNodes(graph));
  report.nodes_after = static_cast<int>(CountNodes(front.graph));

  const Tasks tasks = CollectTasks(front);
  TunerOptions tuner = MakeTunerOptions(options);
  TUNEC_ASSIGN(tuner.retune, TasksToRetune(front, tasks, options));
  TUNEC_ASSIGN(report.known, LookUp(database, tasks, options));
  TUNEC_ASSIGN(report.tuning, TuneTasks(database, tasks, tuner));

  const Stopwatch compile_time;
  TUNEC_ASSIGN(const std::vector<BuiltKernel> kernels,
               BuildAll(tasks, database, options, tuner, report));
  std::vector<std::shared_ptr<const CompiledKernel>> codes;
  std::vector<KernelReport> of_task;
  for (size_t t = 0; t < kernels.size(); ++t) {
    codes.push_back(std::make_shared<const CompiledKernel>(kernels[t].code));
    of_task.push_back(Describe(tasks.unique[t], kernels[t]));
  }
  std::vector<GroupKernel> groups;
  for (size_t g = 0; g < front.groups.size(); ++g) {
    const size_t task = tasks.of_group[g];
    const GroupReport& group = front.groups[g];
    std::string name = NameOfGroup(front.graph, group.group);
    report.kernels.push_back(of_task[task]);
    report.kernels.back().name = name;
    groups.push_back(
        {group.group, std::move(name), ArgumentNames(group.lowerings[0].compute), codes[task]});
  }
  TUNEC_ASSIGN(ExecutablePlan plan, Assemble(front, groups, options));
  report.launches = static_cast<int>(plan.steps.size());
  for (const Step& step : plan.steps)
    report.phases += std::max(1, static_cast<int>(step.kernel.phases.size()));
  report.arena_bytes = plan.arena_bytes;
  if (const Status runs = CheckRunsHere(options.target); !runs) plan.refusal = runs.error();
  TUNEC_ASSIGN(Executable executable, Executable::Make(std::move(plan)));
  model.executable = std::make_shared<const Executable>(std::move(executable));
  report.compile_ms = compile_time.Milliseconds();
  return model;
}

}  // namespace tunec
