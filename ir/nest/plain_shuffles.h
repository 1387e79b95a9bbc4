// Replacement of shuffles for targets where the storage of all threads is addressable.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Returns the number of the thread that differs from the number `thread` in the bit `distance`, a
/// power of two.
IndexExpr PartnerOf(const IndexExpr& thread, int64_t distance);

/// Returns the shuffle as a store that copies the element of the other thread.
Store StoreOf(const Shuffle& shuffle, const Tensors& tensors);

/// Replaces shuffles by stores from StoreOf. Requires: a verified nest, on a target that runs the
/// threads of a block one after the other. Ensures: the same results.
LoopNest PlainShuffles(LoopNest nest);

}  // namespace tunec
