// The threads of one block, taking turns at barriers.
#pragma once

#include <cstdint>

#include "jit/cuda/emulate/emulated_thread.h"

namespace tunec {

/// Calls `function` once for each thread of the block, as if side by side. Ends the process, with
/// what each does, when threads wait at different barriers, or at one that others end without, and
/// when lanes of a warp are at different operations of it (warp_operation.h); in checked mode also
/// for what CheckedBlock and CheckOtherBlocks find. Generated code calls it, from any thread.
void RunEmulatedBlock(const EmulatedLaunch* launch, EmulatedFunction function,
                      void* const* arguments, void* workspace, int64_t block);

}  // namespace tunec
