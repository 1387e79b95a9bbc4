// Writes the steps of a convolution's tile that warps compute by matrix instructions.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_conv_plan.h"

namespace tunec {

/// Adds the steps of the plan. Requires: `choice` comes from Fitted.
void WriteCudaConv(const CudaConvPlan& plan, const CudaConvChoice& choice, Schedule& schedule);

}  // namespace tunec
