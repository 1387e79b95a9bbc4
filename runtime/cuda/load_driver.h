// Finds NVIDIA's driver in this process: the same program runs where there is none.
#pragma once

#include <string>

#include "runtime/cuda/driver_api.h"
#include "support/error.h"

namespace tunec {

/// The oldest CUDA whose functions are called: 12.0.
inline constexpr int kOldestCuda = 12000;

/// "12.4" of 12040.
std::string CudaVersionText(int version);

/// The driver in the library of that name or path, initialised. Errors are kDevice, and say what
/// is missing and what to do about it: no library, one that stands in for a driver where programs
/// are built (CUDA's stub), a driver older than kOldestCuda, no GPU, a function that it lacks.
Result<CudaDriver> LoadCudaDriver(const std::string& library);

/// The file of this machine's driver: libcuda.so.1, or the library that TUNEC_LIBCUDA names,
/// without symbolic links. The name of NVIDIA's own ends in the driver's version. kDevice without
/// one.
Result<std::string> FindCudaLibrary();

/// The driver of this machine: libcuda.so.1, or the library that TUNEC_LIBCUDA names. Each call
/// loads it, which costs little after the first one.
Result<CudaDriver> LoadCudaDriver();

}  // namespace tunec
