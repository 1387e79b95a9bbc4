// The stages that lead from a Compute and a Schedule to loops. They apply the steps, generate the
// loops, and prove that the loops are legal.
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

// These stages lead from a Compute to its loops, in order. kernel/loop_pipeline.h runs them.

/// Returns the Compute after the schedule's compute steps. Fails with kInvalidArgument if a step
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
  std::vector<ScheduledTree> prepacks;  // separate trees, each of which transforms a weight once
};

/// Applies the schedule's loop steps to a Compute that its compute steps have rewritten. Proves
/// nothing about the resulting loops. A step that names a prepack statement, or a loop of one,
/// changes the tree of this prepack. Fails with kInvalidArgument if a step does not fit.
Result<ScheduledTrees> ApplyLoopSteps(Compute compute, const Schedule& schedule);

/// Checks that the tree is legal (polyhedral/legality/legality.h). Fails with kIllegalSchedule and
/// the violation, or with kResourceLimit if isl exceeds its limits.
Status CheckLegality(const ScheduledTree& scheduled, const RoundingFreedom& rounding);

/// Checks the tiles in the loops that were generated from the tree. Fails with kInvalidArgument if
/// the loops have no complete tile of an instruction, because its step then has no effect. Fails
/// with kIllegalSchedule if the contract requires float sums as written, or if the instruction
/// rounds operands to TF32 and the contract forbids it.
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
/// Returns these stages in order: CheckLegality, the generation of loops whose tiles and fragments
/// are valid, CheckTiles.
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
