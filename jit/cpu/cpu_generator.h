// The host's code generator.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec {

/// For targets without a device: x86-64 objects, blocks of threads as tasks. kUnsupported: roles,
/// fragments, tile intrinsics that the CPU lacks. kDevice: a CPU without AVX2 and FMA.
std::shared_ptr<const CodeGenerator> MakeCpuGenerator();

}  // namespace tunec
