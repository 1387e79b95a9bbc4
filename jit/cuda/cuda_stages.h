// The rewrites of a nest on the way to kernels for NVIDIA GPUs.
#pragma once

#include <span>

#include "jit/code_generator.h"

namespace tunec {

/// Returns the generator's Stages. Asynchronous copies without an instruction become stores; the
/// others become copies of one element each. Work outside of loops over threads is assigned to
/// thread 0. Then private storage is divided among the threads.
std::span<const NestStage> CudaStages();

}  // namespace tunec
