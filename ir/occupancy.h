// The calculation of how many blocks of a kernel one processor of an NVIDIA GPU runs at once.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/target.h"

namespace tunec {

/// The resource that prevents a processor from running one more block.
enum class OccupancyLimit : uint8_t { kThreads, kBlocks, kRegisters, kShared };
/// Returns the name of a limit: "threads", "blocks", "registers" or "shared".
std::string_view Name(OccupancyLimit limit);

struct Occupancy {
  int64_t blocks = 0;  // number of blocks that run at once on one processor; 0: not even one fits
  double share = 0;    // fraction of the processor's threads that these blocks use
  OccupancyLimit limit = OccupancyLimit::kThreads;
  bool operator==(const Occupancy&) const = default;
};

/// The resources of a processor that one block uses.
struct BlockUse {
  int64_t threads = 1;
  int64_t registers = 32;  // registers of each thread
  int64_t shared_bytes = 0;
};

/// Returns whether all limits of a processor that OccupancyOf needs are known.
bool HasKnownLimits(const Accelerator& device);

/// Returns the occupancy for the resources of one block. Registers are counted in units of 256 per
/// warp, threads in whole warps. Shared memory includes 1 KiB that the system reserves for each
/// block. The limit is the resource that allows the fewest blocks. Of several such resources, it is
/// the first in the order of OccupancyLimit. Requires HasKnownLimits(device), and at least one
/// thread and one register per thread.
Occupancy OccupancyOf(const BlockUse& use, const Accelerator& device);

}  // namespace tunec
