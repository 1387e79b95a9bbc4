// The stages from a Compute and a Schedule to loops: the steps are applied and the result is proven
// legal.
#pragma once

#include <vector>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "polyhedral/legality/legality.h"
#include "polyhedral/schedule_tree.h"
#include "schedule/rounding_freedom.h"
#include "schedule/schedule.h"

namespace tunec {

// These stages lead from a Compute to its loops, in order. kernel/loop_pipeline.h runs them.

/// Returns the statements after the schedule's compute steps. Fails with kInvalidArgument if a step
/// does not fit the Compute, and with kIllegalSchedule if the accuracy contract forbids a step.
Result<Compute> ApplyComputeSteps(const Compute& compute, const Schedule& schedule,
                                  const RoundingFreedom& rounding);

/// A schedule tree with its dependences. It owns an isl context, so only one thread may use it at a
/// time.
struct ScheduledTree {
  ScheduleTree tree;
  Dependences dependences;  // dependences of the tree's statements
};

struct ScheduledTrees {
  ScheduledTree kernel;
  std::vector<ScheduledTree> prepacks;  // separate trees that each pack, split or widen a weight
};

/// Applies the schedule's loop steps to statements that its compute steps have rewritten. Proves
/// nothing about the resulting loops. A step that names a prepack statement, or a loop of it,
/// shapes the tree of this prepack. Fails with kInvalidArgument if a step does not fit.
Result<ScheduledTrees> ApplyLoopSteps(Compute compute, const Schedule& schedule);

/// Fails with kIllegalSchedule and the violated dependence, or with kResourceLimit if isl exceeds
/// its limits.
Status CheckLegality(const ScheduledTree& scheduled, const RoundingFreedom& rounding);

/// Checks the tiles of the loops that were generated from the tree. Fails with kInvalidArgument if
/// no tile of an instruction is complete, because then its step has no effect. Fails with
/// kIllegalSchedule if the contract requires another order of sums than the instruction's.
Status CheckTiles(const ScheduleTree& tree, const LoopNest& nest, const RoundingFreedom& rounding);

/// Runs the first two stages.
Result<ScheduledTrees> DraftSchedule(const Compute& compute, const Schedule& schedule,
                                     const RoundingFreedom& rounding);

/// Runs all stages; returns the error of the first stage that rejects the schedule.
Status CheckApplies(const Compute& compute, const Schedule& schedule,
                    const RoundingFreedom& rounding);

/// Returns the loops without any step: for `tunec show`, and the slowest of all schedules.
Result<LoopNest> OriginalLoops(const Compute& compute, const RoundingFreedom& rounding);

}  // namespace tunec
