// Functions that apply the loop steps to a schedule tree, in place. After an error of Apply, the
// caller must drop the tree. Legality is checked later, from the dependences.
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

/// Returns the loop of this name in the tree. The error for any other name lists the names of all
/// loops.
Result<VarId> LoopNamed(const ScheduleTree& tree, const std::string& name);

/// Returns the loop of this name. Fails if it is not serial, or if it is unrolled, peeled,
/// prefetching, pipelined or part of a tile. A step that replaces a loop would lose these
/// properties.
Result<VarId> SerialLoop(const ScheduleTree& tree, std::string_view step, const std::string& name);

/// Adds a loop of this name to the list of loops; the caller puts it into the tree. Fails if the
/// name is taken or not valid.
Result<VarId> NewLoop(ScheduleTree& tree, std::string_view step, const std::string& name,
                      int64_t extent);

/// Replaces a loop by `value` in the inverses of these statements.
void ReplaceInInverse(ScheduleTree& tree, const std::vector<StatementId>& statements, VarId loop,
                      const IndexExpr& value);

/// Sets the kind of a loop. Fails unless the loop is serial and neither unrolled nor pipelined.
Status SetKind(ScheduleTree& tree, const std::string& name, LoopKind kind);

/// Checks that all nodes between the root and this loop are loops of kinds that `may_be_around`
/// accepts.
bool IsInLoopChain(const ScheduleTree& tree, VarId loop, bool (*may_be_around)(LoopKind));

/// Checks that `accepts` is true for the kind of at least one loop at or below the node.
bool ContainsKind(const ScheduleTree& tree, const TreeNode& node, bool (*accepts)(LoopKind));

/// Checks that a statement may be moved into the loop. The loop must be serial, unrolled, or the
/// innermost of the loops over tasks or threads. It must not be part of a tile.
bool CanTakeStatement(const ScheduleTree& tree, VarId loop);

}  // namespace tunec
