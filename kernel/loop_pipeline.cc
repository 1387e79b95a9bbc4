#include "kernel/loop_pipeline.h"

#include "ir/nest/insert_barriers.h"
#include "ir/verify/verify_fragments.h"
#include "kernel/stage_runner.h"
#include "polyhedral/generate/generate.h"

namespace tunec {
namespace {

constexpr LoopStage kStages[] = {
    {"compute_steps", "the schedule's steps that rewrite statements"},
    {"loop_steps", "its steps that shape loops"},
    {"check_legality", "the proof that every dependence holds"},
    {"generate_loops", "bounds, conditions, storage and stores"},
    {"insert_barriers", "barriers between what different threads of a block do"},
    {"map_threads", "blocks of threads as the target runs them: as tasks of a CPU"},
    {"emit", "the loops as LLVM IR"},
};

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
  const Stopwatch watch;
  TUNEC_ASSIGN(ScheduledTrees trees, ApplyLoopSteps(std::move(rewritten), schedule));
  StageRecord record{"loop_steps", trees.kernel.tree.name, watch.Milliseconds()};
  TUNEC_RETURN_IF_ERROR(stages_.Finish(record, trees.kernel.tree));
  for (const ScheduledTree& prepack : trees.prepacks) {
    record = {"loop_steps", prepack.tree.name, 0};
    TUNEC_RETURN_IF_ERROR(stages_.Finish(record, prepack.tree));
  }
  return trees;
}

// Returns the error of an illegal schedule. If the options allow illegal schedules, records the
// first error instead.
Status Pipeline::Heed(Status legal) {
  if (legal || options_.legality == Legality::kReject) return legal;
  if (!rejection_) rejection_ = std::move(legal).error();
  stages_.StopVerifying();
  return {};
}

// Generates loops and checks fragments. A schedule must place the tiles of a warp correctly, and
// only the tiles' own lanes may access an element of a fragment.
Result<LoopNest> LoopsOf(const ScheduleTree& tree, Contraction contraction) {
  TUNEC_ASSIGN(LoopNest nest, GenerateLoops(tree, contraction));
  TUNEC_RETURN_IF_ERROR(VerifyFragments(nest));
  return nest;
}

// Runs the stages from a schedule tree to its loops.
Result<LoopNest> Pipeline::MakeLoops(const ScheduledTree& scheduled) {
  const ScheduleTree& tree = scheduled.tree;
  const RoundingFreedom& rounding = options_.rounding;
  TUNEC_RETURN_IF_ERROR(stages_.Check("check_legality", tree.name, scheduled.tree,
                                      [&] { return Heed(CheckLegality(scheduled, rounding)); }));
  TUNEC_ASSIGN(LoopNest nest, stages_.Run<LoopNest>("generate_loops", tree.name, [&] {
    return LoopsOf(tree, rounding.contraction());
  }));
  TUNEC_RETURN_IF_ERROR(Heed(CheckTiles(tree, nest, rounding)));
  return stages_.Run<LoopNest>("insert_barriers", tree.name,
                               [&] { return InsertBarriers(std::move(nest)); });
}

Result<KernelLoops> Pipeline::Run(const Compute& compute, const Schedule& schedule) {
  TUNEC_ASSIGN(Compute rewritten, stages_.Run<Compute>("compute_steps", compute.name, [&] {
    return ApplyComputeSteps(compute, schedule, options_.rounding);
  }));
  TUNEC_ASSIGN(const ScheduledTrees trees, MakeTrees(std::move(rewritten), schedule));
  // From here on, the kernel and the packing of each weight are processed separately.
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

std::span<const LoopStage> LoopStages() { return kStages; }

std::string Print(const StageProduct& product) {
  return std::visit([](const auto* made) { return Print(*made); }, product);
}

Status StageRunner::AddStageName(std::string_view stage, Status status) {
  if (status) return {};
  return Fail(ErrorCode::kInternal, "stage {}: {}", stage, status.error().message);
}

Status StageRunner::VerifyLast(const LoopNest& nest) const {
  return AddStageName("emit", Verify(nest));
}

Result<KernelLoops> RunLoopPipeline(const Compute& compute, const Schedule& schedule,
                                    const LoopPipelineOptions& options) {
  return Pipeline(options).Run(compute, schedule);
}

}  // namespace tunec
