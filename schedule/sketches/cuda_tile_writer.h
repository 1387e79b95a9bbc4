// The writer that turns a CudaTilePlan into the steps of a schedule.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_tile_plan.h"

namespace tunec {

/// Adds the steps of the plan to `schedule`. Requires: `choice` comes from Fitted.
void WriteCudaTile(const CudaTilePlan& plan, const CudaTileChoice& choice, Schedule& schedule);

}  // namespace tunec
