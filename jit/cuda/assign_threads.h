// Who of a block's threads does what, said by loops alone.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// What a nest leaves to the threads of number 0, the work outside of loops over threads, stands
/// in loops over threads of one iteration afterwards:
///
///     block (256, 4):  t: s[0] = 0            block.x for thread_x in 0 .. 1
///                                       ->      block.y for thread_y in 0 .. 1
///                      block.x for x            t: s[0] = 0
///                        u: ...               block.x for x
///                                               block.y for thread_y in 0 .. 1
///                                                 u: ...
///
/// A tile of a warp is left to all threads along x, and to those of number 0 along y and z.
///
/// Requires: a verified nest. Ensures: one that verifies, with the same results, in which every
/// store, prefetch and copy outside of such tiles is inside a loop over each axis along which its
/// phase has threads.
LoopNest AssignThreads(const LoopNest& nest);

}  // namespace tunec
