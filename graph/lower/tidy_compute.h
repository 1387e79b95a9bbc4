// The canonical form of a lowered Compute: what schedules rely on, whatever spelling the
// operators' lowerings chose.
#pragma once

#include "ir/compute.h"

namespace tunec::lower {

/// Ensures: no statement without instances, unless it is all that writes an output; none whose
/// results nobody reads; a reduction over no elements is an assignment of the identity; no iterator
/// of extent 1; workspace tensors are indexed by the iterators of the reduction that writes them,
/// one dimension each, wherever that needs only merging two dimensions or splitting one. The values
/// are unchanged. O(accesses x dimensions).
Compute Tidy(const Compute& compute);

}  // namespace tunec::lower
