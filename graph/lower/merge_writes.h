// Merges several outputs into one loop.
#pragma once

#include "ir/compute.h"

namespace tunec::lower {

/// Merges neighbouring elementwise statements over the same domain into one statement with several
/// writes. Shared operands are then read and computed once. A Compute with reductions is returned
/// unchanged, because the loops of the reduction decide there. A stored value that later statements
/// read stays stored, because an expression would grow with each use. The values are unchanged.
/// O(statements x accesses).
Compute MergeWrites(const Compute& compute);

}  // namespace tunec::lower
