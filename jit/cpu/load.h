// An image of the host -> a kernel that can be called.
#pragma once

#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// Links the image into this process. The code is unloaded when the last owner of Kernel::code
/// goes; thousands of load and drop cycles do not grow the process. Safe from several threads.
/// Errors: kParse for damaged bytes or those of a device, kNotFound for a function it lacks,
/// kInternal when it imports symbols.
Result<Kernel> LoadKernel(const KernelImage& image, PerfMap perf_map = PerfMap::kOff);

}  // namespace tunec
