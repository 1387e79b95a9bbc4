// What intervals cannot show of a Compute (ir/verify/verify.cc): that its accesses stay inside, and
// that what it reads has been written.
#pragma once

#include "ir/compute.h"

namespace tunec {

/// kInvalidArgument, naming the statement and an element, when a statement leaves a tensor, reads
/// an element of a workspace or an output that nothing wrote before, or when an element of an
/// output is never written. A loaded index counts as anything within the `range` of the tensor
/// that it is loaded from; a tensor without one must not index. What isl cannot decide within a
/// quota of operations (some tenths of a second) passes. Requires: `compute` verifies.
Status CheckElements(const Compute& compute);

}  // namespace tunec
