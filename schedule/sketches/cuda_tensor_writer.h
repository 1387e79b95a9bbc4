// Writes the steps of a block's tile that warps compute by matrix instructions.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_tensor_plan.h"

namespace tunec {

/// Adds the steps of the plan. Requires: `choice` comes from Fitted.
void WriteCudaTensor(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                     Schedule& schedule);

}  // namespace tunec
