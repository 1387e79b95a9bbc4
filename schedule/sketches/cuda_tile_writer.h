// The steps of a block's tile of sums.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_tile_plan.h"

namespace tunec {

/// Adds the steps of the plan for a Fitted choice.
void WriteCudaTile(const CudaTilePlan& plan, const CudaTileChoice& choice, Schedule& schedule);

}  // namespace tunec
