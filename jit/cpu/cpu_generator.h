// The host's code generator.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec {

/// Creates the generator for targets without a device: x86-64 objects, blocks of threads as tasks.
/// Its errors: kUnsupported for roles, fragments and tile intrinsics that the CPU lacks; kDevice
/// for a CPU without AVX2, FMA or F16C.
std::shared_ptr<const CodeGenerator> MakeCpuGenerator();

}  // namespace tunec
