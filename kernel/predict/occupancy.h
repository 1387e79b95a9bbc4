// How many blocks of a kernel one processor of a GPU runs at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "runtime/kernel_image.h"

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

/// Threads of one block.
int64_t ThreadsOf(const PhaseLaunch& launch);
/// Warps of one block, the last of them perhaps in part.
int64_t WarpsOf(const PhaseLaunch& launch);

/// Whether what a processor holds at most is known.
bool KnowsLimits(const Accelerator& device);

/// By what a block takes of a processor: registers in units of 256 a warp, shared memory with
/// 1 KiB that the system keeps of each block, threads, and blocks as such. The least counts; of
/// equal ones the first in the order of OccupancyLimit. None where the registers of the code, or
/// the device's limits, are not known.
std::optional<Occupancy> OccupancyOf(const PhaseLaunch& launch, const Accelerator& device);

/// How many times all processors together are filled, one after the other, by the blocks of one
/// start (a launch's Blocks() / waves). Requires: occupancy.blocks > 0.
int64_t OccupancyWaves(const PhaseLaunch& launch, const Occupancy& occupancy,
                       const Accelerator& device);

}  // namespace tunec
