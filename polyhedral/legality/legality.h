// Whether a schedule tree keeps the meaning of its Compute, decided by isl from the
// dependences between statement instances.
#pragma once

#include "polyhedral/dependences.h"
#include "polyhedral/schedule_tree.h"
#include "support/error.h"

namespace tunec {

/// How far reductions may be reordered: by the accuracy contract.
enum class ReductionOrder { kAny, kAsWritten };

/// ok, or kIllegalSchedule naming the violated dependence:
///   - every instance of every statement runs, once;
///   - every dependence runs forward in the tree's order (those of a reduction on its own
///     accumulator may be permuted under kAny);
///   - no dependence is carried by a parallel loop, nor by a vector loop or one over the threads of
///     a block unless it is a reorderable reduction's own, into one element;
///   - what a pipelined loop copies ahead is written as many iterations before, or outside it;
///   - no dependence through storage that each thread of a block has for itself goes from one
///     thread to another;
///   - a staged tensor's values never pass from one run of its stage to another, and only
///     statements inside touch it (false dependences between runs are void: each run has
///     its own storage).
/// kResourceLimit when isl needs more than its quota of operations. isl is asked only about
/// what the quick proof (order_proof.h) leaves open.
Status CheckLegality(const Dependences& dependences, const ScheduleTree& tree,
                     ReductionOrder order);

/// The same by isl alone: what tests hold against CheckLegality.
Status CheckLegalityExactly(const Dependences& dependences, const ScheduleTree& tree,
                            ReductionOrder order);

}  // namespace tunec
