// From a Compute and a Schedule to loops: the steps applied, the result proven legal.
#pragma once

#include <vector>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "polyhedral/legality.h"
#include "polyhedral/schedule_tree.h"
#include "schedule/steps/step.h"

namespace tunec {

/// What the accuracy contract leaves to a schedule.
struct Arithmetic {
  Arithmetic(ReductionOrder of_reductions)  // NOLINT: all that most contracts say
      : order(of_reductions) {}
  ReductionOrder order;
  /// The bfloat16 terms that `precision` must keep of a float32, where operands may be split at
  /// all: three are as accurate as float32, two have 16 bits, one has 8.
  int least_terms = 3;
  /// Where sums may be regrouped, a product may also be fused into its sum.
  Contraction contraction() const {
    return order == ReductionOrder::kAny ? Contraction::kFused : Contraction::kSeparate;
  }
};

/// What a schedule makes of a Compute. The nest's arguments are found by name: those of the
/// Compute, and for each weight that is packed (`w.pack`) or split (`w.bf16`) the output of the
/// prepack nest of that name, whose only other argument is the weight.
struct ScheduledKernel {
  LoopNest nest;
  std::vector<LoopNest> prepack;  // run once, when the constants are known
};

/// Applies the steps, in order, and proves the result legal. Errors: kInvalidArgument when a
/// step does not fit the Compute, kIllegalSchedule naming the violated dependence or what the
/// accuracy contract forbids, kResourceLimit when isl gives up.
Result<ScheduledKernel> ApplySchedule(const Compute& compute, const Schedule& schedule,
                                      const Arithmetic& arithmetic);

/// The steps applied, nothing proven of the tree yet. Owns an isl context: one thread at a time.
struct ScheduleDraft {
  ScheduleTree tree;
  Dependences dependences;  // of the tree's statements
  std::vector<LoopNest> prepack;
};

/// What ApplySchedule makes before it asks for legality: for showing loops between steps, and
/// for tests that force illegal ones through. Errors: those of the steps, and a prepack's.
Result<ScheduleDraft> DraftSchedule(const Compute& compute, const Schedule& schedule,
                                    const Arithmetic& arithmetic);

/// The loops before any step, for `tunec show` and as the slowest of all schedules.
Result<LoopNest> OriginalLoops(const Compute& compute, const Arithmetic& arithmetic);

}  // namespace tunec
