// The steps of flash attention on a device, for one block of rows in each block of threads.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_stream_plan.h"

namespace tunec {

/// Returns the schedule of the plan. Requires: `choice` comes from Fitted.
Schedule WriteCudaStream(const CudaStreamPlan& plan, const CudaStreamChoice& choice);

}  // namespace tunec
