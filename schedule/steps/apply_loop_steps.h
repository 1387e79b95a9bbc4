// The steps that shape a schedule tree, in place. An error leaves the tree unusable; the
// caller drops it. Legality is judged later, from the dependences.
#pragma once

#include "polyhedral/schedule_tree.h"
#include "schedule/steps/loop_steps.h"

namespace tunec {

Status Apply(ScheduleTree& tree, const SplitStep& step);
Status Apply(ScheduleTree& tree, const ReorderStep& step);
Status Apply(ScheduleTree& tree, const FuseStep& step);
Status Apply(ScheduleTree& tree, const IsolateStep& step);
Status Apply(ScheduleTree& tree, const UnrollStep& step);
Status Apply(ScheduleTree& tree, const VectorizeStep& step);
Status Apply(ScheduleTree& tree, const ParallelizeStep& step);
Status Apply(ScheduleTree& tree, const StorageOrderStep& step);
Status Apply(ScheduleTree& tree, const ComputeAtStep& step);
Status Apply(ScheduleTree& tree, const StageStep& step);
Status Apply(ScheduleTree& tree, const SwizzleStorageStep& step);
Status Apply(ScheduleTree& tree, const NonTemporalStep& step);
Status Apply(ScheduleTree& tree, const SkewStep& step);
Status Apply(ScheduleTree& tree, const PeelStep& step);
Status Apply(ScheduleTree& tree, const DistributeStep& step);
Status Apply(ScheduleTree& tree, const UnrollJamStep& step);
Status Apply(ScheduleTree& tree, const SwizzleStep& step);
Status Apply(ScheduleTree& tree, const WavefrontStep& step);
Status Apply(ScheduleTree& tree, const PrefetchStep& step);
Status Apply(ScheduleTree& tree, const BindStep& step);
Status Apply(ScheduleTree& tree, const PipelineStep& step);
Status Apply(ScheduleTree& tree, const ReverseComputeAtStep& step);
Status Apply(ScheduleTree& tree, const TensorizeStep& step);

/// The loop of that name that is still in the tree, or an error that lists the loops there are.
Result<VarId> LoopNamed(const ScheduleTree& tree, const std::string& name);

/// The same for a step that makes other loops of it, which would lose what was said of how it runs.
Result<VarId> SerialLoop(const ScheduleTree& tree, std::string_view step, const std::string& name);

/// A new loop of that name, which is not yet in the tree. Refuses a name that is taken or is none.
Result<VarId> NewLoop(ScheduleTree& tree, std::string_view step, const std::string& name,
                      int64_t extent);

/// A loop is gone from the tree: what was said in terms of it is said in terms of others.
void ReplaceInInverse(ScheduleTree& tree, const std::vector<StatementId>& statements, VarId loop,
                      const IndexExpr& value);

/// Chooses how a loop runs, which may be done once.
Status SetKind(ScheduleTree& tree, const std::string& name, LoopKind kind);

/// Whether all loops around this one, up to the root, are directly inside each other and of kinds
/// that may stand around it there.
bool StandsInChain(const ScheduleTree& tree, VarId loop, bool (*may_be_around)(LoopKind));

/// Whether a loop below the node is of such a kind.
bool HoldsKind(const ScheduleTree& tree, const TreeNode& node, bool (*wanted)(LoopKind));

/// Whether more than its present body may be put into the loop: it runs its iterations one by
/// one, or as tasks or threads and is the innermost of these.
bool CanHoldMore(const ScheduleTree& tree, VarId loop);

}  // namespace tunec
