// Checks of a Compute that are more exact than the intervals of ir/verify/verify.cc. All accesses
// must be inside the tensors. Elements of workspaces and outputs must be written before they are
// read, and outputs must be written completely.
#pragma once

#include "ir/compute.h"

namespace tunec {

/// Checks the accesses of `compute`. Fails with kInvalidArgument in these cases: a statement
/// accesses an element outside a tensor; it reads an element of a workspace or output that was not
/// written before; an element of an output is never written. An alias has the role of its target.
/// Without a guard, the `range` of the tensor that holds an index must prove that the index is
/// inside. Other checks that loaded values or isl's quota of operations leave undecided count as
/// passed. Verify must accept `compute`.
Status CheckElements(const Compute& compute);

}  // namespace tunec
