// Several outputs of one loop.
#pragma once

#include "ir/compute.h"

namespace tunec::lower {

/// Makes neighbouring statements that compute each element by itself over the same domain one
/// statement with several writes, so that what they share is read and computed once. A Compute
/// with reductions stays as it is: there, the loops of the reduction decide. What is stored for
/// later statements stays stored: an expression would grow with each use of it.
/// The values are unchanged. O(statements x accesses).
Compute MergeWrites(const Compute& compute);

}  // namespace tunec::lower
