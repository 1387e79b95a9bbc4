// The canonical form of a lowered Compute. Schedules depend on it, whatever form the lowerings of
// the operators chose.
#pragma once

#include "ir/compute.h"

namespace tunec::lower {

/// Returns the canonical form. Ensures: no statement is without instances, unless it is the only
/// one that writes an output; every statement's results are read; a reduction over no elements is
/// an assignment of the identity; no iterator has extent 1. Workspace tensors are indexed by the
/// iterators of the writing reduction, one dimension each, if merging two dimensions or splitting
/// one suffices. The values are unchanged. O(accesses x dimensions).
Compute Tidy(const Compute& compute);

}  // namespace tunec::lower
