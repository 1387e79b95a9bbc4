// The code generator for NVIDIA GPUs.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec {

/// Creates the generator for targets whose device has the kind "cuda". Its images are cubins
/// (runtime/cuda/cubin.h), which require ptxas (FindPtxas). For an emulated device, its images are
/// images of the host, without ptxas. Show returns PTX as assembly, without ptxas. Show returns
/// SASS as machine code, which requires ptxas and nvdisasm (FindNvdisasm).
std::shared_ptr<const CodeGenerator> MakeCudaGenerator();

}  // namespace tunec
