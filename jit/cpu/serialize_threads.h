// Conversion of a GPU's loop nest with many threads to a CPU's nest with one thread per block.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Converts blocks to tasks, and loops over threads to serial loops, which preserve the order of
/// barriers. Storage that threads share, and private storage of several threads, moves to the
/// task's scratch. Asynchronous copies and shuffles become stores. The nest must be verified. The
/// result computes the same values and has no nodes for threads except roles and tiles of warps.
LoopNest SerializeThreads(const LoopNest& nest);

}  // namespace tunec
