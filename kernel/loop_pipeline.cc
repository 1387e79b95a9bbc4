#include "kernel/loop_pipeline.h"

#include "ir/nest/insert_barriers.h"
#include "jit/code_generator.h"
#include "kernel/stage_runner.h"

namespace tunec {
namespace {

// The stages that neither TreeStages nor CodeGenerator::Stages returns.
constexpr LoopStage kComputeSteps = {
    "compute_steps", "the schedule's steps that rewrite statements", {}};
constexpr LoopStage kLoopSteps = {"loop_steps", "its steps that shape loops", {}};
constexpr LoopStage kInsertBarriers = {
    "insert_barriers", "barriers between what different threads of a block do", {}};
constexpr LoopStage kEmit = {"emit", "the loops as LLVM IR", {}};

class Pipeline {
 public:
  explicit Pipeline(const LoopPipelineOptions& options) : options_(options), stages_(options) {}
  Result<KernelLoops> Run(const Compute& compute, const Schedule& schedule);

 private:
  Result<ScheduledTrees> MakeTrees(Compute rewritten, const Schedule& schedule) const;
  Result<LoopNest> MakeLoops(const ScheduledTree& scheduled);
  Status Heed(Status legal);

  const LoopPipelineOptions& options_;
  StageRunner stages_;
  std::optional<Error> rejection_;
};

Result<ScheduledTrees> Pipeline::MakeTrees(Compute rewritten, const Schedule& schedule) const {
  const TraceScope scope(kLoopSteps.name, rewritten.name);
  const Stopwatch watch;
  TUNEC_ASSIGN(ScheduledTrees trees, ApplyLoopSteps(std::move(rewritten), schedule));
  StageRecord record{kLoopSteps.name, trees.kernel.tree.name, watch.Milliseconds()};
  TUNEC_RETURN_IF_ERROR(stages_.Finish(record, trees.kernel.tree));
  for (const ScheduledTree& prepack : trees.prepacks) {
    record = {kLoopSteps.name, prepack.tree.name, 0};
    TUNEC_RETURN_IF_ERROR(stages_.Finish(record, prepack.tree));
  }
  return trees;
}

// Returns `legal`, unless it is an error and the options allow illegal schedules. In this case,
// returns success, records the first error and turns off the verification of later results.
Status Pipeline::Heed(Status legal) {
  if (legal || options_.legality == Legality::kReject) return legal;
  if (!rejection_) rejection_ = std::move(legal).error();
  stages_.StopVerifying();
  return {};
}

// Runs the stages from a schedule tree to its loops.
Result<LoopNest> Pipeline::MakeLoops(const ScheduledTree& scheduled) {
  const ScheduleTree& tree = scheduled.tree;
  const RoundingFreedom& rounding = options_.rounding;
  std::optional<LoopNest> nest;
  for (const TreeStage& stage : TreeStages()) {
    if (stage.generate != nullptr) {
      TUNEC_ASSIGN(nest, stages_.Run<LoopNest>(stage.name, tree.name,
                                               [&] { return stage.generate(tree, rounding); }));
      continue;
    }
    const auto check = [&] { return Heed(stage.check(scheduled, nest, rounding)); };
    TUNEC_RETURN_IF_ERROR(nest ? stages_.Check(stage.name, tree.name, *nest, check)
                               : stages_.Check(stage.name, tree.name, tree, check));
  }
  return stages_.Run<LoopNest>(kInsertBarriers.name, tree.name,
                               [&] { return InsertBarriers(*std::move(nest)); });
}

Result<KernelLoops> Pipeline::Run(const Compute& compute, const Schedule& schedule) {
  TUNEC_ASSIGN(Compute rewritten, stages_.Run<Compute>(kComputeSteps.name, compute.name, [&] {
    return ApplyComputeSteps(compute, schedule, options_.rounding);
  }));
  TUNEC_ASSIGN(const ScheduledTrees trees, MakeTrees(std::move(rewritten), schedule));
  // From here on, the kernel and the preprocessing of each weight are processed separately.
  KernelLoops loops;
  for (const ScheduledTree& prepack : trees.prepacks) {
    TUNEC_ASSIGN(LoopNest nest, MakeLoops(prepack));
    loops.prepack.push_back(std::move(nest));
  }
  TUNEC_ASSIGN(loops.nest, MakeLoops(trees.kernel));
  loops.rejection = std::move(rejection_);
  return loops;
}

}  // namespace

std::vector<LoopStage> LoopStages() {
  std::vector<LoopStage> stages = {kComputeSteps, kLoopSteps};
  for (const TreeStage& stage : TreeStages()) stages.push_back({stage.name, stage.summary, {}});
  stages.push_back(kInsertBarriers);
  for (const auto& generator : CodeGenerators()) {
    for (const NestStage& stage : generator->Stages())
      stages.push_back({stage.name, stage.summary, generator->Name()});
  }
  stages.push_back(kEmit);
  return stages;
}

std::vector<LoopStage> LoopStages(std::string_view kind) {
  std::vector<LoopStage> stages = LoopStages();
  std::erase_if(stages, [&](const LoopStage& stage) {
    return !stage.target.empty() && stage.target != kind;
  });
  return stages;
}

std::string Print(const StageProduct& product) {
  return std::visit([](const auto* made) { return Print(*made); }, product);
}

Status StageRunner::AddStageName(std::string_view stage, Status status) {
  if (status) return {};
  return Fail(ErrorCode::kInternal, "stage {}: {}", stage, status.error().message);
}

Status StageRunner::VerifyBefore(std::string_view stage, const LoopNest& nest) {
  return AddStageName(stage, Verify(nest));
}

Result<KernelLoops> RunLoopPipeline(const Compute& compute, const Schedule& schedule,
                                    const LoopPipelineOptions& options) {
  return Pipeline(options).Run(compute, schedule);
}

}  // namespace tunec
