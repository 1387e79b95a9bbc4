// The code generator for NVIDIA GPUs.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec {

/// For targets whose device is of kind "cuda". Its images are cubins (runtime/cuda/cubin.h); where
/// the device is emulated they are the host's. Compile wants a ptxas (FindPtxas). Shown assembly is
/// PTX, for which Show wants none; machine code, which nvdisasm reads (FindNvdisasm), is SASS.
std::shared_ptr<const CodeGenerator> MakeCudaGenerator();

}  // namespace tunec
