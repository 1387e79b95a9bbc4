// The writer of the schedule of flash attention on a device. Each block of threads computes one
// block of rows.
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/cuda_stream_plan.h"

namespace tunec {

/// Returns the schedule of the plan. Requires: `choice` comes from Fitted.
Schedule WriteCudaStream(const CudaStreamPlan& plan, const CudaStreamChoice& choice);

}  // namespace tunec
