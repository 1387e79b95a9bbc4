// A pass that merges the statements of several outputs into one statement.
#pragma once

#include "ir/compute.h"

namespace tunec::lower {

/// Merges consecutive statements that write outputs over the same domain into one statement with
/// several writes. The merged statement must stay small. At each point, each statement must be able
/// to run directly after the one before. Shared operands are then read once. A Compute with
/// reductions is returned unchanged, because schedules fuse its statements into the loops of the
/// reductions. A workspace tensor stays stored, because its expression would grow with each use.
/// The values are unchanged. O(accesses^2).
Compute MergeWrites(const Compute& compute);

}  // namespace tunec::lower
