// Replacement of shuffles for targets where the storage of all threads is addressable.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Replaces shuffles by stores that copy the element of the other thread. Requires: a verified nest
/// without per-thread storage, on a target that runs the threads of a block one after the other.
/// Ensures: the same results.
LoopNest PlainShuffles(LoopNest nest);

}  // namespace tunec
