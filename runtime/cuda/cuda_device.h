// One of NVIDIA's GPUs as a Device.
#pragma once

#include <memory>

#include "runtime/cuda/driver_api.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// The GPU of that number among the driver's. It loads images of kCubinFormat (cubin.h). Work that
/// is not done after `hang_seconds` of waiting is kDevice, and nothing more is asked of the GPU.
/// Errors: kDevice for what the driver refuses, kResourceLimit without memory for a context.
Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaDriver& driver, int number,
                                               double hang_seconds = kHangSeconds);

}  // namespace tunec
