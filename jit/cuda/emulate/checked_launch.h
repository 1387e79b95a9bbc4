// Checks of the global memory that the blocks of one launch access.
#pragma once

#include "jit/cuda/emulate/checked_block.h"

namespace tunec {

/// Checks a block against earlier blocks of its launch. Must be called at the end of each block, by
/// any host thread. Blocks of one launch may run in any order. `touched` has the block's
/// accesses to global memory. If two blocks accessed a byte and at least one of them wrote it, the
/// process ends; the message names both blocks and the address. A launch is identified by its
/// EmulatedLaunch, the wave, and the addresses of the array of arguments and of the workspace. The
/// state of a launch is deleted when all of its blocks have ended.
void CheckOtherBlocks(const EmulatedLaunch& launch, void* const* arguments, const void* workspace,
                      int64_t block, const ByteMarks<ThreadMarks>& touched);

}  // namespace tunec
