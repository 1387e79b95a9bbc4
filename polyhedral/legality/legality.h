// The check that a schedule tree preserves the meaning of its Compute. It tests the dependences
// between statement instances, in difficult cases by isl.
#pragma once

#include "polyhedral/dependences.h"
#include "polyhedral/schedule_tree.h"
#include "support/error.h"

namespace tunec {

/// The orders of combinations in reductions that the accuracy contract allows: any order, or only
/// the written one.
enum class ReductionOrder { kAny, kAsWritten };

/// Checks that the tree is legal. Fails with kIllegalSchedule unless all of these hold.
///
///   - every instance of every statement runs once;
///   - every dependence runs forward in the tree's order (kAny permits permutations of a
///     reorderable reduction's dependences on its own accumulator);
///   - no loop whose iterations may run at the same time carries a dependence (exceptions: sums of
///     lanes or threads, order_questions.h, and lanes that take turns, lane_turns.h);
///   - data that a pipelined loop copies ahead is written before the loop starts, or at least as
///     many iterations earlier as the loop has stages;
///   - no dependence through storage that is separate for each thread of a block goes from one
///     thread to another;
///   - a staged tensor's values never pass from one run of its stage to another, and only
///     statements inside the stage access the tensor (reuse between runs is not a dependence: each
///     run has separate storage).
/// Fails with kResourceLimit if isl needs more than its quota of operations. isl checks the
/// dependences through a storage only if the quick proof (order_proof.h) fails for the storage.
Status CheckLegality(const Dependences& dependences, const ScheduleTree& tree,
                     ReductionOrder order);

/// Checks the same as CheckLegality without the quick proof. Tests compare both functions' results.
Status CheckLegalityExactly(const Dependences& dependences, const ScheduleTree& tree,
                            ReductionOrder order);

}  // namespace tunec
