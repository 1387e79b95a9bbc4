// What a run of a model costs, foretold without compiling code or running anything.
#pragma once

#include "compiler/compiler.h"

namespace tunec {

struct RunPrediction {
  int groups = 0;
  int launches = 0;         // kernels that run
  int phases = 0;           // of the kernels' default schedules: each ends with a barrier
  int64_t bytes = 0;        // that the kernels' arguments have, each kernel's counted once
  int64_t arena_bytes = 0;  // peak of the intermediate values, by the memory plan
};

/// The groups of `front`, with the schedules that the analytic sketches give. The same options give
/// the same numbers. Errors: a group to which no schedule applies.
Result<RunPrediction> PredictRun(const FrontReport& front, const CompileOptions& options);

}  // namespace tunec
