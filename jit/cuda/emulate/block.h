// The emulation of one block. The threads run one after the other. Each thread runs until the next
// barrier or warp operation, or to the end.
#pragma once

#include <cstdint>

#include "jit/cuda/emulate/emulated_thread.h"

namespace tunec {

/// Calls `function` once for each thread of the block, as if all ran in parallel. Ends the process,
/// with a description of the threads, if threads wait at different barriers, or if some threads end
/// while others wait. The same holds if a lane of a warp is missing at a warp operation
/// (warp_operation.h). In checked mode, errors of CheckedBlock and CheckOtherBlocks end the
/// process, too. Generated code calls this function, from any host thread.
void RunEmulatedBlock(const EmulatedLaunch* launch, EmulatedFunction function,
                      void* const* arguments, void* workspace, int64_t block);

}  // namespace tunec
