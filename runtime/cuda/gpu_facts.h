// Properties of GPUs, as reported by the driver.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/driver_api.h"
#include "support/error.h"

namespace tunec {

struct GpuFacts {
  int number = 0;    // number in the driver's list, which CUDA_VISIBLE_DEVICES may change
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // "GPU-8f2c...", equal in every process
  int capability_major = 0;
  int capability_minor = 0;
  int processors = 1;              // streaming multiprocessors
  int64_t block_shared_bytes = 0;  // maximum that a block may opt in to
  int64_t processor_shared_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
};

/// Returns a text such as "NVIDIA H200 (device 0)".
std::string Name(const GpuFacts& facts);

/// Returns a text such as "8.0".
std::string CapabilityOf(const GpuFacts& facts);
/// Returns a text such as "NVIDIA A100 (device 0) has compute capability 8.0, ...".
std::string CapabilitiesOf(const std::vector<GpuFacts>& gpus);

/// Reads the properties of one GPU. Errors: kDevice for a number that the driver does not have, and
/// for other driver errors.
Result<GpuFacts> ReadGpuFacts(const CudaDriver& driver, int number);

/// Reads the properties of all GPUs, in the driver's order.
Result<std::vector<GpuFacts>> ReadAllGpuFacts(const CudaDriver& driver);
/// Reads the properties of the GPU with the number or UUID `choice`, or of all GPUs if `choice` is
/// empty. Errors: kDevice for driver errors and, with a list of all GPUs, for an unknown choice.
Result<std::vector<GpuFacts>> ReadChosenGpus(const CudaDriver& driver, std::string_view choice);

}  // namespace tunec
