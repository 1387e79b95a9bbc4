// Writes the steps of a block's tile of sums that threads compute.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_tile_plan.h"

namespace tunec {

/// Adds the steps of the plan. Requires: `choice` comes from Fitted.
void WriteCudaTile(const CudaTilePlan& plan, const CudaTileChoice& choice, Schedule& schedule);

}  // namespace tunec
