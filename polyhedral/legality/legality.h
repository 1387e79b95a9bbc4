// Checks that a schedule tree preserves the meaning of its Compute. The dependences between
// statement instances decide, with the help of isl.
#pragma once

#include "polyhedral/dependences.h"
#include "polyhedral/schedule_tree.h"
#include "support/error.h"

namespace tunec {

/// The reordering of reductions that the accuracy contract allows.
enum class ReductionOrder { kAny, kAsWritten };

/// Checks that the tree is legal. Fails with kIllegalSchedule, naming the violated dependence,
/// unless:
///   - every instance of every statement runs once;
///   - every dependence runs forward in the tree's order (those of a reduction on its own
///     accumulator may be permuted under kAny);
///   - no dependence is carried by a parallel loop, nor by a vector loop or one over the threads of
///     a block unless it is a reorderable reduction's own, into one element;
///   - data that a pipelined loop copies ahead is written at least as many iterations before, or
///     outside the loop;
///   - no dependence through storage that is separate for each thread of a block goes from one
///     thread to another;
///   - a staged tensor's values never pass from one run of its stage to another, and only
///     statements inside touch it (false dependences between runs are void: each run has
///     separate storage).
/// Fails with kResourceLimit if isl needs more than its quota of operations. isl decides only the
/// questions that the quick proof (order_proof.h) cannot decide.
Status CheckLegality(const Dependences& dependences, const ScheduleTree& tree,
                     ReductionOrder order);

/// Checks the same by isl alone. Tests compare the result with that of CheckLegality.
Status CheckLegalityExactly(const Dependences& dependences, const ScheduleTree& tree,
                            ReductionOrder order);

}  // namespace tunec
