// The GPUs of this machine, for targets of kind "cuda" that are not emulated.
#pragma once

#include <memory>
#include <string_view>

#include "ir/target.h"
#include "jit/cuda/arch.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/gpu_facts.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// The GPU of that number as what kernels are compiled for: the most particular arch that it runs,
/// with what the driver says of its size. Errors: kDevice for a number that the driver does not
/// have, and for a GPU that no code is generated for.
Result<Accelerator> DetectCuda(const CudaDriver& driver, int number);
/// This machine's GPU of that number or UUID, as nvidia-smi writes it ("GPU-8f2c..."); empty: its
/// first one. Errors: kDevice also without a driver, or without such a GPU.
Result<Accelerator> DetectCuda(std::string_view choice = {});

/// kDevice, with what is missing, unless this machine has a driver and a GPU for the device's code.
/// `choice` is of DetectCuda; empty: any one.
Status CheckGpu(const Accelerator& device, std::string_view choice = {});

/// The first such GPU. Errors: CheckGpu's and those of OpenCudaDevice.
Result<std::unique_ptr<Device>> OpenGpu(const Accelerator& device, const DeviceChoice& choice = {});

}  // namespace tunec
