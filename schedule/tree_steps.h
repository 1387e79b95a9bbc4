// The steps that shape a schedule tree, in place. An error leaves the tree unusable; the
// caller drops it. Legality is judged later, from the dependences.
#pragma once

#include "polyhedral/schedule_tree.h"
#include "schedule/step.h"

namespace tunec {

Status Apply(ScheduleTree& tree, const SplitStep& step);
Status Apply(ScheduleTree& tree, const ReorderStep& step);
Status Apply(ScheduleTree& tree, const FuseStep& step);
Status Apply(ScheduleTree& tree, const IsolateStep& step);
Status Apply(ScheduleTree& tree, const UnrollStep& step);
Status Apply(ScheduleTree& tree, const VectorizeStep& step);
Status Apply(ScheduleTree& tree, const ParallelizeStep& step);
Status Apply(ScheduleTree& tree, const ComputeAtStep& step);
Status Apply(ScheduleTree& tree, const StageStep& step);
Status Apply(ScheduleTree& tree, const NonTemporalStep& step);

/// The loop of that name that is still in the tree, or an error that lists the loops there are.
Result<VarId> LoopNamed(const ScheduleTree& tree, const std::string& name);

/// Whether more than its present body may be put into the loop: it runs its iterations one by
/// one, or as tasks and is the innermost of these.
bool CanHoldMore(const ScheduleTree& tree, VarId loop);

}  // namespace tunec
