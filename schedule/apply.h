// From a Compute and a Schedule to loops: the steps applied, the result proven legal, stage by
// stage.
#pragma once

#include <vector>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "polyhedral/legality/legality.h"
#include "polyhedral/schedule_tree.h"
#include "schedule/rounding_freedom.h"
#include "schedule/schedule.h"

namespace tunec {

// The stages from a Compute to its loops, in order. kernel/loop_pipeline.h runs them.

/// The statements rewritten by the schedule's compute steps. Errors: kInvalidArgument when a step
/// does not fit the Compute, kIllegalSchedule for what the accuracy contract forbids.
Result<Compute> ApplyComputeSteps(const Compute& compute, const Schedule& schedule,
                                  const RoundingFreedom& rounding);

/// Owns an isl context: one thread at a time.
struct ScheduledTree {
  ScheduleTree tree;
  Dependences dependences;  // of the tree's statements
};

struct ScheduledTrees {
  ScheduledTree kernel;
  std::vector<ScheduledTree> prepacks;  // what packs, splits or widens a weight, each by itself
};

/// The loops that the schedule's loop steps make of statements that were rewritten by its compute
/// steps; nothing is proven of them. A step that names what makes a weight's copy, or a loop of it,
/// shapes the tree of that. Errors: kInvalidArgument when a step does not fit.
Result<ScheduledTrees> ApplyLoopSteps(Compute compute, const Schedule& schedule);

/// kIllegalSchedule naming the violated dependence, kResourceLimit when isl gives up.
Status CheckLegality(const ScheduledTree& scheduled, const RoundingFreedom& rounding);

/// Of the loops that were generated from the tree: kInvalidArgument where no tile of an instruction
/// is whole, so that its step has done nothing; kIllegalSchedule where the contract wants sums in
/// another order than an instruction's.
Status CheckTiles(const ScheduleTree& tree, const LoopNest& nest, const RoundingFreedom& rounding);

/// The first two stages.
Result<ScheduledTrees> DraftSchedule(const Compute& compute, const Schedule& schedule,
                                     const RoundingFreedom& rounding);

/// Whether all stages accept the schedule: the error of the first that does not.
Status CheckApplies(const Compute& compute, const Schedule& schedule,
                    const RoundingFreedom& rounding);

/// The loops before any step, for `tunec show` and as the slowest of all schedules.
Result<LoopNest> OriginalLoops(const Compute& compute, const RoundingFreedom& rounding);

}  // namespace tunec
