// Replacement of shuffles for targets where the storage of all threads is addressable.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Replaces shuffles by stores that copy the element of the partner thread. The nest must be
/// verified and have no per-thread storage. The target must run the threads of a block one after
/// the other. The results of the nest do not change.
LoopNest PlainShuffles(LoopNest nest);

}  // namespace tunec
