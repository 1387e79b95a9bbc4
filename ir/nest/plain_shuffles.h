// Shuffles where the storage of all threads is in reach.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// The number of the thread that differs from this one in the bit `distance`, a power of two.
IndexExpr PartnerOf(const IndexExpr& thread, int64_t distance);

/// What a shuffle does, as a copy from the other thread's element.
Store StoreOf(const Shuffle& shuffle, const Tensors& tensors);

/// Shuffles become such stores. Requires: a verified nest whose threads run one after the other.
/// Ensures: the same results.
LoopNest PlainShuffles(LoopNest nest);

}  // namespace tunec
