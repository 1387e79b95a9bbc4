// Assignment of work to the threads of a block, expressed by loops alone.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Adds a loop over threads with one iteration for each axis of several threads over which work has
/// no loop. So only threads with number 0 along these axes do the work:
///
///     block (256, 4):  t: s[0] = 0            block.x for thread_x in 0 .. 1
///                                       ->      block.y for thread_y in 0 .. 1
///                      block.x for x            t: s[0] = 0
///                        u: ...               block.x for x
///                                               block.y for thread_y in 0 .. 1
///                                                 u: ...
///
/// A tile of a warp gets no loop over x, since all threads along x execute such a tile together.
///
/// The nest must be verified. The result satisfies Verify and computes the same values. In the
/// result, every store, prefetch and copy outside of such tiles is inside a loop over each axis
/// along which the phase has several threads.
LoopNest AssignThreads(const LoopNest& nest);

}  // namespace tunec
