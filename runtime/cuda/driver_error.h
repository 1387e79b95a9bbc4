// Functions that explain the driver's error codes.
#pragma once

#include <string>

#include "runtime/cuda/driver_api.h"

namespace tunec {

/// Returns a text such as "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was
/// encountered".
std::string DescribeCuResult(const CudaDriver& driver, CuResult result);

/// Returns true if the device counts as lost for this process after the error.
bool LosesDevice(CuResult result);

}  // namespace tunec
