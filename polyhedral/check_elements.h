// Checks of a Compute for which the intervals of ir/verify/verify.cc are not exact enough. All
// accesses must be inside the tensors. Elements must be written before they are read, and outputs
// must be written completely.
#pragma once

#include "ir/compute.h"

namespace tunec {

/// Checks all accesses of `compute`. Fails with kInvalidArgument, naming the statement and an
/// element, in these cases: a statement accesses an element outside a tensor; it reads an element
/// of a workspace or output that was not written before; an element of an output is never written.
/// A loaded index may have any value in the `range` of its tensor; a tensor without a range must
/// not be used as an index. A check that isl cannot decide within a quota of operations (some
/// tenths of a second) counts as passed. Verify must accept `compute`.
Status CheckElements(const Compute& compute);

}  // namespace tunec
