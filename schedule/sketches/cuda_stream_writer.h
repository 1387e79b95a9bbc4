// The steps of a block that streams two products.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_stream_plan.h"

namespace tunec {

/// The schedule of the plan for a choice that is Fitted.
Schedule WriteCudaStream(const CudaStreamPlan& plan, const CudaStreamChoice& choice);

}  // namespace tunec
