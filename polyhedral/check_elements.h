// Checks of a Compute for which intervals are not exact enough (ir/verify/verify.cc). All accesses
// must be inside the tensors, and all elements that are read must have been written.
#pragma once

#include "ir/compute.h"

namespace tunec {

/// Checks all accesses of `compute`. Fails with kInvalidArgument, naming the statement and an
/// element, in these cases: a statement accesses an element outside a tensor; it reads an element
/// of a workspace or output that was not written before; an element of an output is never written.
/// A loaded index may have any value in the `range` of its tensor; a tensor without a range must
/// not be used as an index. A check that isl cannot decide within a quota of operations (some
/// tenths of a second) counts as passed. Requires: `compute` verifies.
Status CheckElements(const Compute& compute);

}  // namespace tunec
