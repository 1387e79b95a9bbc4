// How many blocks of a compiled kernel one processor of a GPU runs at once (ir/occupancy.h).
#pragma once

#include <cstdint>
#include <optional>

#include "ir/occupancy.h"
#include "ir/target.h"
#include "runtime/kernel_image.h"

namespace tunec {

/// Threads of one block.
int64_t ThreadsOf(const PhaseLaunch& launch);
/// Warps of one block, the last of them perhaps in part.
int64_t WarpsOf(const PhaseLaunch& launch);

/// None where the registers of the code, or the device's limits, are not known.
std::optional<Occupancy> OccupancyOf(const PhaseLaunch& launch, const Accelerator& device);

/// How many times all processors together are filled, one after the other, by the blocks of one
/// start (a launch's Blocks() / waves). Requires: occupancy.blocks > 0.
int64_t OccupancyWaves(const PhaseLaunch& launch, const Occupancy& occupancy,
                       const Accelerator& device);

}  // namespace tunec
