// What a GPU would run with many threads, as a CPU runs it with one a block.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Blocks become tasks and loops over threads serial loops, which keep the order that barriers
/// would; storage shared by threads, or private to each of several, lies in the task's scratch;
/// asynchronous copies take place where they are issued, and what passes between registers of
/// threads is a copy. Requires: a verified nest. Ensures: the
/// same results, and none of these nodes left.
LoopNest SerializeThreads(const LoopNest& nest);

}  // namespace tunec
