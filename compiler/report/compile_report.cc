#include "compiler/report/compile_report.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "autotune/fallback.h"
#include "compiler/front_end.h"
#include "graph/count_graph.h"
#include "support/hash.h"

namespace tunec {
namespace {

// Predicts the phases of a device's kernel. Returns an empty list for the host.
Result<std::vector<PredictedPhase>> Predict(const BuiltKernel& built,
                                            const CompileOptions& options) {
  if (!options.target.device) return {};
  return PredictPhases(built.code->work, built.code->image, *options.target.device);
}

// Returns the report of a task's kernels, without their names, which differ between groups.
Result<KernelReport> Describe(const TuningTask& task, const BuiltKernel& built,
                              const CompileOptions& options) {
  const Work work = CountWork(task.lowerings[0].compute);
  const Schedule& schedule = built.schedule.schedule;
  const Compute& lowering = *FindLowering(task.lowerings, schedule.lowering);
  TUNEC_ASSIGN(std::vector<PredictedPhase> predicted, Predict(built, options));
  // The time of a near key was measured on another target, so it is not reported.
  const std::optional<double> seconds = built.schedule.near ? std::nullopt : built.schedule.seconds;
  return KernelReport{.kind = task.kind,
                      .workload = StableHash(WorkloadText(task)),
                      .schedule = Print(schedule),
                      .sketch_source = std::string(Name(SourceOf(built.schedule))),
                      .flops = work.flops,
                      .bytes = work.bytes,
                      .arithmetic = ArithmeticOf(lowering, schedule, options.target),
                      .phases = static_cast<int>(built.code->image.phases.size()),
                      .predicted = std::move(predicted),
                      .recorded_seconds = built.schedule.predicted ? std::nullopt : seconds,
                      .predicted_seconds = built.schedule.predicted ? seconds : std::nullopt,
                      .reused = built.reused,
                      .notes = built.notes};
}

Result<std::vector<KernelReport>> DescribeAll(const FrontReport& front, const ModelTasks& tasks,
                                              const std::vector<BuiltKernel>& kernels,
                                              const CompileOptions& options) {
  std::vector<KernelReport> of_task;
  for (size_t t = 0; t < kernels.size(); ++t) {
    TUNEC_ASSIGN(KernelReport kernel, Describe(tasks.unique[t], kernels[t], options));
    of_task.push_back(std::move(kernel));
  }
  std::vector<KernelReport> of_group;
  for (size_t g = 0; g < front.groups.size(); ++g) {
    of_group.push_back(of_task[tasks.of_group[g]]);
    of_group.back().name = NameOfGroup(front.graph, front.groups[g].group);
  }
  return of_group;
}

}  // namespace

size_t CountDistinctKernels(const CompileReport& report) {
  std::set<std::string> workloads;
  for (const KernelReport& kernel : report.kernels) workloads.insert(kernel.workload);
  return workloads.size();
}

Result<CompileReport> MakeReport(const Graph& graph, const StagedModel& staged,
                                 const ExecutablePlan& plan, const CompileOptions& options) {
  TUNEC_ASSIGN(std::vector<KernelReport> described,
               DescribeAll(staged.front, staged.tasks, staged.kernels, options));
  CompileReport report{.kernels = std::move(described),
                       .known = staged.tuned.known,
                       .tuning = staged.tuned.report,
                       .in_model = staged.tuned.in_model,
                       .passes_ms = staged.passes_ms,
                       .nodes_before = static_cast<int>(CountNodes(graph))};
  for (const BuiltKernel& kernel : staged.kernels) {
    (kernel.reused ? report.objects_reused : report.objects_compiled) += 1;
  }
  report.nodes_after = static_cast<int>(CountNodes(staged.front.graph));
  report.launches = static_cast<int>(plan.steps.size());
  for (const Step& step : plan.steps) {
    report.phases += std::max(1, static_cast<int>(step.kernel.phases.size()));
  }
  report.arena_bytes = plan.arena_bytes;
  return report;
}

}  // namespace tunec
