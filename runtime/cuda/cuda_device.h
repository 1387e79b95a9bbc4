// An NVIDIA GPU as a Device.
#pragma once

#include <memory>

#include "runtime/cuda/driver_api.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// Opens the GPU with the number `number` in the driver's list. The device loads images of
/// kCubinFormat (cubin.h). Work that is not done after `hang_seconds` of waiting fails with
/// kDevice, and the device then starts no more work. Errors: kDevice for a driver error,
/// kResourceLimit without memory.
Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaDriver& driver, int number,
                                               double hang_seconds = kHangSeconds);

}  // namespace tunec
