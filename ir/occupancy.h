// How many blocks of a kernel one processor of a device runs at once, as NVIDIA's GPUs decide it.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/target.h"

namespace tunec {

/// What keeps a processor from running one more block.
enum class OccupancyLimit : uint8_t { kThreads, kBlocks, kRegisters, kShared };
/// "threads", "blocks", "registers", "shared".
std::string_view Name(OccupancyLimit limit);

struct Occupancy {
  int64_t blocks = 0;  // of one processor at once; 0: not even one fits
  double share = 0;    // of the threads that a processor holds at most
  OccupancyLimit limit = OccupancyLimit::kThreads;
  bool operator==(const Occupancy&) const = default;
};

/// What one block takes of a processor.
struct BlockUse {
  int64_t threads = 1;
  int64_t registers = 32;  // of each thread
  int64_t shared_bytes = 0;
};

/// Whether what a processor holds at most is known.
bool KnowsLimits(const Accelerator& device);

/// By what a block takes of a processor: registers in units of 256 a warp, shared memory with
/// 1 KiB that the system keeps of each block, threads in whole warps, and blocks as such. The least
/// counts; of equal ones the first in the order of OccupancyLimit. Requires: KnowsLimits, and a
/// block of at least one thread and one register.
Occupancy OccupancyOf(const BlockUse& use, const Accelerator& device);

}  // namespace tunec
