// Object code -> a kernel that can be called.
#pragma once

#include "jit/compile.h"
#include "runtime/kernel.h"
#include "support/error.h"

namespace tunec {

enum class PerfMap { kOff, kOn };

/// Links the object into this process. The code is unloaded when the last owner of Kernel::code
/// goes; thousands of load and drop cycles do not grow the process. Safe from several threads.
/// With PerfMap::kOn its functions are added to /tmp/perf-PID.map, which perf reads.
/// Errors: kParse for damaged bytes, kNotFound for a phase the object lacks, kInternal when it
/// imports symbols.
Result<Kernel> LoadKernel(const ObjectCode& object, PerfMap perf_map = PerfMap::kOff);

}  // namespace tunec
