// What the blocks of one launch do to memory that all of them see.
#pragma once

#include "jit/cuda/emulate/checked_block.h"

namespace tunec {

/// To be called at the end of each block, from any thread. Blocks of one launch may run in any
/// order: ends the process, with both blocks and the place, when this one and an earlier one
/// touched a byte that one of them wrote. A launch is told from others by its constant, its wave
/// and what it was called with, and is forgotten when all of its blocks have ended.
void CheckOtherBlocks(const EmulatedLaunch& launch, void* const* arguments, const void* workspace,
                      int64_t block, const ByteMarks<ThreadMarks>& touched);

}  // namespace tunec
