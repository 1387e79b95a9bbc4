// The calculation of the occupancy of one processor of a GPU by a compiled kernel
// (ir/occupancy.h).
#pragma once

#include <cstdint>
#include <optional>

#include "ir/occupancy.h"
#include "ir/target.h"
#include "runtime/kernel_image.h"

namespace tunec {

/// Returns the number of threads of one block.
int64_t ThreadsOf(const PhaseLaunch& launch);
/// Returns the number of warps of one block. The last warp may be partially filled.
int64_t WarpsOf(const PhaseLaunch& launch);

/// Returns the occupancy of one processor. Returns nullopt if the code's number of registers or the
/// device's limits are unknown.
std::optional<Occupancy> OccupancyOf(const PhaseLaunch& launch, const Accelerator& device);

/// Returns the number of times that the blocks of one start fill all processors, rounded up. A
/// start has launch.Blocks() / launch.waves blocks. occupancy.blocks must be greater than 0.
int64_t OccupancyWaves(const PhaseLaunch& launch, const Occupancy& occupancy,
                       const Accelerator& device);

}  // namespace tunec
