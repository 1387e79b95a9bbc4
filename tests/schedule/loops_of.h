// What the loop pipeline makes of a schedule, every stage verified.
#pragma once

#include "kernel/loop_pipeline.h"

namespace tunec::test {

inline Result<KernelLoops> LoopsOf(const Compute& compute, const Schedule& schedule,
                                   const Arithmetic& arithmetic) {
  return RunLoopPipeline(compute, schedule,
                         {.arithmetic = arithmetic, .verify = VerifyStages::kEach});
}

}  // namespace tunec::test
