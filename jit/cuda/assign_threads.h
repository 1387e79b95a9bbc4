// Assignment of work to the threads of a block, expressed by loops alone.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Wraps the work outside of loops over threads in loops over threads with one iteration. So only
/// the thread with number 0 along each axis does this work:
///
///     block (256, 4):  t: s[0] = 0            block.x for thread_x in 0 .. 1
///                                       ->      block.y for thread_y in 0 .. 1
///                      block.x for x            t: s[0] = 0
///                        u: ...               block.x for x
///                                               block.y for thread_y in 0 .. 1
///                                                 u: ...
///
/// A tile of a warp is done by all threads along x that have number 0 along y and z.
///
/// The nest must be verified. The result satisfies Verify and computes the same values. In the
/// result, every store, prefetch and copy outside of such tiles is inside a loop over each thread
/// axis of the phase.
LoopNest AssignThreads(const LoopNest& nest);

}  // namespace tunec
