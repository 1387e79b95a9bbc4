// The host's code generator.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec {

/// Creates the generator for targets without a device. It writes x86-64 objects, and blocks of
/// threads are tasks. Compile fails with kUnsupported for roles, for fragments, and for tile
/// intrinsics that the CPU lacks. It fails with kDevice for a CPU without AVX2, FMA or F16C.
std::shared_ptr<const CodeGenerator> MakeCpuGenerator();

}  // namespace tunec
