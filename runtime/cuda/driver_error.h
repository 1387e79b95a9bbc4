// What the driver's error codes mean.
#pragma once

#include <string>

#include "runtime/cuda/driver_api.h"

namespace tunec {

/// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
std::string DescribeCuResult(const CudaDriver& driver, CuResult result);

/// Whether the process has lost the device with it: every later call fails, whatever it asks for.
bool LosesDevice(CuResult result);

}  // namespace tunec
