// The loop pipeline's result for a schedule, with every stage verified.
#pragma once

#include "kernel/loop_pipeline.h"

namespace tunec::test {

inline Result<KernelLoops> LoopsOf(const Compute& compute, const Schedule& schedule,
                                   const RoundingFreedom& rounding) {
  return RunLoopPipeline(compute, schedule, {.rounding = rounding, .verify = VerifyStages::kEach});
}

}  // namespace tunec::test
