// What the driver says of one GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/driver_api.h"
#include "support/error.h"

namespace tunec {

struct GpuFacts {
  int number = 0;    // the driver's, which CUDA_VISIBLE_DEVICES may change
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // "GPU-8f2c...", the same in every process
  int capability_major = 0;
  int capability_minor = 0;
  int processors = 1;              // streaming multiprocessors
  int64_t block_shared_bytes = 0;  // that a block may opt in to
  int64_t processor_shared_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
};

/// "NVIDIA H200 (device 0)"
std::string Name(const GpuFacts& facts);

/// "8.0"
std::string CapabilityOf(const GpuFacts& facts);
/// "NVIDIA A100 (device 0) has compute capability 8.0, ..."
std::string CapabilitiesOf(const std::vector<GpuFacts>& gpus);

/// Errors: kDevice for a number that the driver does not have, or whatever else it refuses.
Result<GpuFacts> ReadGpuFacts(const CudaDriver& driver, int number);

/// Of all GPUs, in the driver's order.
Result<std::vector<GpuFacts>> ReadAllGpuFacts(const CudaDriver& driver);
/// The same; of the one that is chosen by its number or UUID alone, unless `choice` is empty.
/// kDevice, with those that there are, for one that is not there.
Result<std::vector<GpuFacts>> ReadChosenGpus(const CudaDriver& driver, std::string_view choice);

}  // namespace tunec
