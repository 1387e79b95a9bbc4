// The steps of a convolution's tile of matrix instructions.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_conv_plan.h"

namespace tunec {

/// Adds the steps of the plan for a Fitted choice.
void WriteCudaConv(const CudaConvPlan& plan, const CudaConvChoice& choice, Schedule& schedule);

}  // namespace tunec
