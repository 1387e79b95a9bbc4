// Loading of NVIDIA's driver at run time, so that the same program also runs without a driver.
#pragma once

#include <string>

#include "runtime/cuda/driver_api.h"
#include "support/error.h"

namespace tunec {

/// Oldest supported CUDA version: 12.0.
inline constexpr int kOldestCuda = 12000;

/// Returns the version as text: "12.4" for 12040.
std::string CudaVersionText(int version);

/// Loads and initialises the driver in the library of that name or path. Errors: kDevice, with the
/// cause. Examples are a missing library, the CUDA toolkit's stub library, a driver older than
/// kOldestCuda, a missing GPU, and a missing function.
Result<CudaDriver> LoadCudaDriver(const std::string& library);

/// Returns the path of this machine's driver, without symbolic links: libcuda.so.1, or the library
/// that TUNEC_LIBCUDA names. The file name of NVIDIA's driver ends in the driver's version. If the
/// path is not known, returns the library's name. Errors: kDevice if the library cannot be opened.
Result<std::string> FindCudaLibrary();

/// Loads the driver of this machine: libcuda.so.1, or the library that TUNEC_LIBCUDA names. Each
/// call opens the library and finds the functions again. Calls after the first are fast, because
/// the library stays loaded.
Result<CudaDriver> LoadCudaDriver();

}  // namespace tunec
