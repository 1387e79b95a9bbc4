// Functions that detect, check and open this machine's GPUs, for cuda targets without emulation.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ir/target.h"
#include "jit/cuda/arch.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/gpu_facts.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// Returns the GPU of that number as a target device: the most specific supported arch, with the
/// sizes that the driver reports. Errors: kDevice for an error of the driver, such as an unknown
/// number, and for a GPU without code generation.
Result<Accelerator> DetectCuda(const CudaDriver& driver, int number);
/// Returns this machine's GPU with the number or UUID `choice`. A UUID has nvidia-smi's form
/// ("GPU-8f2c..."). An empty choice selects the first GPU. Errors: those of the other DetectCuda;
/// kDevice without a driver or without the chosen GPU.
Result<Accelerator> DetectCuda(std::string_view choice = {});

/// Checks if this machine has a driver and a GPU for the device's code. Errors: kDevice, with what
/// is missing. `choice` is that of DetectCuda; empty selects any GPU.
Status CheckGpu(const Accelerator& device, std::string_view choice = {});

/// Returns the UUID of the GPU that OpenGpu opens. Errors: those of CheckGpu.
Result<std::string> FindGpuUuid(const Accelerator& device, std::string_view choice = {});

/// Opens the first GPU that runs the device's code and that `choice` allows. Errors: those of
/// CheckGpu and OpenCudaDevice.
Result<std::unique_ptr<Device>> OpenGpu(const Accelerator& device, const DeviceChoice& choice = {});

}  // namespace tunec
