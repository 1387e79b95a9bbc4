// A pass that brings a lowered Compute into a canonical form. So schedules need not handle all
// forms that the lowerings of the operators produce.
#pragma once

#include "ir/compute.h"

namespace tunec::lower {

/// Returns the canonical form. Ensures: no statement has an iterator of extent 0, except the only
/// writer of an output; every statement writes an output or a tensor with readers; a reduction over
/// no elements is an assignment of the identity; no iterator has extent 1. A workspace tensor that
/// a reduction writes is indexed by the reduction's iterators, one dimension each, if merging or
/// splitting dimensions suffices and no index is loaded. The values are unchanged. O(accesses x
/// dimensions).
Compute Tidy(const Compute& compute);

}  // namespace tunec::lower
