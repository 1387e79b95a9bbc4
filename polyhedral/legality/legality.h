// The check that a schedule tree preserves the meaning of its Compute. It tests the dependences
// between statement instances, in difficult cases by isl.
#pragma once

#include "polyhedral/dependences.h"
#include "polyhedral/schedule_tree.h"
#include "support/error.h"

namespace tunec {

/// The orders of additions in sums that the accuracy contract allows: any order, or only the
/// written one.
enum class ReductionOrder { kAny, kAsWritten };

/// Checks that the tree is legal. Fails with kIllegalSchedule, naming the violated dependence,
/// unless all of these hold:
///   - every instance of every statement runs once;
///   - every dependence runs forward in the tree's order (those of a reduction on its own
///     accumulator may be permuted under kAny);
///   - no parallel loop carries a dependence, and no vector loop or loop over the threads of a
///     block carries one, except for those of a reorderable reduction into one element on itself;
///   - data that a pipelined loop copies ahead is written outside the loop, or at least as many
///     iterations earlier as the loop has stages;
///   - no dependence through storage that is separate for each thread of a block goes from one
///     thread to another;
///   - a staged tensor's values never pass from one run of its stage to another, and only
///     statements inside touch it (reuse between runs is not a dependence: each run has separate
///     storage).
/// Fails with kResourceLimit if isl needs more than its quota of operations. isl decides only the
/// questions that the quick proof (order_proof.h) cannot decide.
Status CheckLegality(const Dependences& dependences, const ScheduleTree& tree,
                     ReductionOrder order);

/// Checks the same as CheckLegality, but by isl alone. Tests compare the results of both functions.
Status CheckLegalityExactly(const Dependences& dependences, const ScheduleTree& tree,
                            ReductionOrder order);

}  // namespace tunec
