// One of NVIDIA's GPUs as a Device.
#pragma once

#include <memory>

#include "runtime/cuda/driver_api.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// The GPU of that number among the driver's. It loads images of kCubinFormat (cubin.h). Errors:
/// kDevice for what the driver refuses, kResourceLimit without memory for a context.
Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaDriver& driver, int number);

}  // namespace tunec
