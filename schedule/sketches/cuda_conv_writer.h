// The writer that turns a CudaConvPlan into the steps of a schedule.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_conv_plan.h"

namespace tunec {

/// Adds the steps of the plan to `schedule`. Requires: `choice` comes from Fitted.
void WriteCudaConv(const CudaConvPlan& plan, const CudaConvChoice& choice, Schedule& schedule);

}  // namespace tunec
