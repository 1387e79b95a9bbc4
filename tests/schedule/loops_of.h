// A function that runs the loop pipeline for a schedule and verifies every stage.
#pragma once

#include "kernel/loop_pipeline.h"

namespace tunec::test {

inline Result<KernelLoops> LoopsOf(const Compute& compute, const Schedule& schedule,
                                   const RoundingFreedom& rounding) {
  return RunLoopPipeline(compute, schedule, {.rounding = rounding, .verify = VerifyStages::kEach});
}

}  // namespace tunec::test
