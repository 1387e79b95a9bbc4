// Replacement of shuffles for targets where the storage of all threads is addressable.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Returns the number of the thread that differs from this one in the bit `distance`, a power of
/// two.
IndexExpr PartnerOf(const IndexExpr& thread, int64_t distance);

/// Returns the shuffle as a copy from the other thread's element.
Store StoreOf(const Shuffle& shuffle, const Tensors& tensors);

/// Replaces shuffles by stores from StoreOf. Requires: a verified nest whose threads run one after
/// the other. Ensures: the same results.
LoopNest PlainShuffles(LoopNest nest);

}  // namespace tunec
