// The steps of a block's tile of matrix instructions.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_tensor_plan.h"

namespace tunec {

/// Adds the steps of the plan for a Fitted choice.
void WriteCudaTensor(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                     Schedule& schedule);

}  // namespace tunec
