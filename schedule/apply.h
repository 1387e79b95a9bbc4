// The stages that lead from a Compute and a Schedule to loops. They apply the steps, prove that the
// result is legal, and generate the loops.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "polyhedral/legality/legality.h"
#include "polyhedral/schedule_tree.h"
#include "schedule/rounding_freedom.h"
#include "schedule/schedule.h"

namespace tunec {

// The stages in order are ApplyComputeSteps, ApplyLoopSteps and those of TreeStages.
// RunLoopPipeline (kernel/loop_pipeline.h) runs all of them.

/// Returns the Compute after the schedule's compute steps. Fails with kInvalidArgument if a step
/// does not fit the Compute, and with kIllegalSchedule if the accuracy contract forbids a step.
/// Other errors are those of CheckLegality.
Result<Compute> ApplyComputeSteps(const Compute& compute, const Schedule& schedule,
                                  const RoundingFreedom& rounding);

/// A schedule tree with its dependences. Only one thread at a time may use the object, because the
/// dependences own an isl context.
struct ScheduledTree {
  ScheduleTree tree;
  Dependences dependences;  // dependences of the tree's statements
};

struct ScheduledTrees {
  ScheduledTree kernel;
  std::vector<ScheduledTree> prepacks;  // separate trees, each of which transforms a weight once
};

/// Applies the schedule's loop steps to the result of ApplyComputeSteps. Proves nothing about the
/// resulting loops. A step that names a prepack statement, or a loop of one, changes the tree of
/// this prepack. Fails with kInvalidArgument if a step does not fit.
Result<ScheduledTrees> ApplyLoopSteps(Compute compute, const Schedule& schedule);

/// Checks that the tree is legal (polyhedral/legality/legality.h). Fails with kIllegalSchedule and
/// the violation, or with kResourceLimit if isl exceeds its limits.
Status CheckLegality(const ScheduledTree& scheduled, const RoundingFreedom& rounding);

/// Checks the tiles in the loops that were generated from the tree. Fails with kInvalidArgument if
/// the loops have no complete tile of an instruction, because its step then has no effect. Fails
/// with kIllegalSchedule if the contract forbids the order of an instruction's float sums, or the
/// rounding of its operands to TF32.
Status CheckTiles(const ScheduleTree& tree, const LoopNest& nest, const RoundingFreedom& rounding);

/// A stage from a scheduled tree to its loops. It either checks or generates.
struct TreeStage {
  std::string_view name;
  std::string_view summary;  // one line, for --help
  /// Checks the tree and any loops generated so far. The pointer is null if the stage generates.
  Status (*check)(const ScheduledTree& scheduled, const std::optional<LoopNest>& nest,
                  const RoundingFreedom& rounding) = nullptr;
  /// Generates the loops. The pointer is null if the stage checks.
  Result<LoopNest> (*generate)(const ScheduleTree& tree, const RoundingFreedom& rounding) = nullptr;
};
/// Returns these stages in order: CheckLegality, the generation of loops with VerifyFragments,
/// CheckTiles.
std::span<const TreeStage> TreeStages();

/// Runs ApplyComputeSteps and ApplyLoopSteps.
Result<ScheduledTrees> DraftSchedule(const Compute& compute, const Schedule& schedule,
                                     const RoundingFreedom& rounding);

/// Runs all stages for the kernel and for each prepack. Returns the first error.
Status CheckApplies(const Compute& compute, const Schedule& schedule,
                    const RoundingFreedom& rounding);

/// Returns the loops of a schedule without steps, for `tunec show`. Each statement has separate
/// loops in the original order.
Result<LoopNest> OriginalLoops(const Compute& compute, const RoundingFreedom& rounding);

}  // namespace tunec
