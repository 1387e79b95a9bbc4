// A function that predicts the cost of a run without compiling or running kernels.
#pragma once

#include "compiler/compiler.h"

namespace tunec {

struct RunPrediction {
  int groups = 0;
  int launches = 0;         // kernels that run
  int phases = 0;           // phases of the kernels' default schedules; each ends with a barrier
  int64_t bytes = 0;        // bytes of the arguments of all kernels; shared values count repeatedly
  int64_t arena_bytes = 0;  // peak memory of the intermediate values, by the memory plan
};

/// Predicts a run of the groups of `front`, each with its first analytic schedule that applies.
/// Equal arguments give equal numbers. Fails if no schedule applies to a group.
Result<RunPrediction> PredictRun(const FrontReport& front, const CompileOptions& options);

}  // namespace tunec
