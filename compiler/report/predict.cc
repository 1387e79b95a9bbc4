#include "compiler/report/predict.h"

#include <algorithm>
#include <map>

#include "autotune/best_schedule.h"
#include "compiler/assemble/plan_arena.h"
#include "compiler/front_end.h"
#include "compiler/tuning/tasks.h"
#include "ir/nest/in_place.h"
#include "kernel/loop_pipeline.h"
#include "support/check.h"

namespace tunec {
namespace {

/// Properties of a task's kernel, which are equal for all groups of the task.
struct TaskFacts {
  int phases = 0;
  int64_t bytes = 0;
  std::vector<std::pair<std::string, std::string>> in_place;  // names of an input and an output
};

Result<TaskFacts> FactsOf(const TuningTask& task, const CompileOptions& options) {
  const TunerOptions tuner{.seed = options.seed,
                           .target = options.target,
                           .accuracy = options.accuracy,
                           .sketches = options.sketches};
  TUNEC_ASSIGN(const Schedule schedule, BestSchedule(nullptr, task, tuner));
  const Compute* compute = FindLowering(task.lowerings, schedule.lowering);
  TUNEC_CHECK(compute != nullptr, "no lowering {}", schedule.lowering);
  TUNEC_ASSIGN(
      const KernelLoops kernel,
      RunLoopPipeline(*compute, schedule, {.rounding = RoundingFreedomFor(options.accuracy)}));
  TaskFacts facts{.phases = static_cast<int>(kernel.nest.phases.size()),
                  .bytes = static_cast<int64_t>(CountWork(task.lowerings[0].compute).bytes)};
  for (const InPlacePair& pair : FindInPlacePairs(kernel.nest))
    facts.in_place.emplace_back(kernel.nest.tensors[pair.input].name,
                                kernel.nest.tensors[pair.output].name);
  return facts;
}

}  // namespace

Result<RunPrediction> PredictRun(const FrontReport& front, const CompileOptions& options) {
  const ModelTasks tasks = CollectTasks(front, options.target);
  std::vector<TaskFacts> facts;
  for (const TuningTask& task : tasks.unique) {
    TUNEC_ASSIGN(TaskFacts of_task, FactsOf(task, options));
    facts.push_back(std::move(of_task));
  }
  RunPrediction prediction;
  std::vector<ArenaStep> steps;
  for (size_t g = 0; g < front.groups.size(); ++g) {
    const GroupReport& group = front.groups[g];
    const TaskFacts& of_task = facts[tasks.of_group[g]];
    prediction.groups += 1;
    prediction.launches += 1;
    prediction.phases += std::max(1, of_task.phases);
    prediction.bytes += of_task.bytes;
    steps.push_back(
        {.group = &group.group,
         .in_place = InPlaceValues(group.group, ArgumentNames(group.lowerings[0].compute),
                                   of_task.in_place)});
  }
  prediction.arena_bytes = PlanArena(front.graph, front.fusion.views, steps).bytes;
  return prediction;
}

}  // namespace tunec
