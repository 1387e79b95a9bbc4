// The code generator for NVIDIA GPUs.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec {

/// Creates the generator for targets whose device has the kind "cuda". Its images are cubins
/// (runtime/cuda/cubin.h); for an emulated device, images of the host. Compile requires a ptxas
/// (FindPtxas). Show returns PTX as assembly, without a ptxas. Show returns SASS as machine code,
/// which requires nvdisasm (FindNvdisasm).
std::shared_ptr<const CodeGenerator> MakeCudaGenerator();

}  // namespace tunec
