// The writer that turns a CudaTensorPlan into the steps of a schedule.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_tensor_plan.h"

namespace tunec {

/// Adds the steps of the plan to `schedule`. Requires: `choice` comes from Fitted.
void WriteCudaTensor(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                     Schedule& schedule);

}  // namespace tunec
