// A kernel from a file (kernel_file.h) on a device, with memory for its arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/cold_runs.h"
#include "runtime/device.h"
#include "runtime/kernel_file.h"
#include "runtime/kernel_vectors.h"
#include "support/error.h"

namespace tunec {

/// Returns the contents of every input from a seed: floats in [0.5, 1) and (-1, -0.5], bools, and
/// zeros for integers, which may be indices. Floats are not zero, because circuits that do not
/// switch use less power, and the GPU would run faster than with usual data.
KernelVectors RandomInputs(const std::vector<KernelArgument>& arguments, uint64_t seed);

/// A kernel from a file, loaded on a device, with memory for its arguments. Only one thread at a
/// time may use an object. The device must outlive the kernel.
class FileKernel {
 public:
  /// Loads a kernel and allocates its arguments. Errors: those of Device::Load, Allocate and Bind.
  static Result<FileKernel> Load(Device& device, const KernelFile& file);

  /// Runs once on the inputs and returns the outputs, which were filled with 0xff bytes before the
  /// run. Fails with kInvalidArgument for an input that is missing or has another type or size.
  /// Also fails with the device's errors.
  Result<std::vector<KernelVector>> Run(const KernelVectors& inputs);
  /// Measures the kernel's time as tuning does. Returns the seconds per run, one value per sample.
  /// The runs use copies of the last Run's arguments in turn, so that a cache of `cache_bytes`
  /// bytes usually does not have them. Fails with the device's errors.
  Result<std::vector<double>> Time(int64_t cache_bytes, int samples);
  /// Returns the lap of the last Time.
  const Lap& lap() const { return lap_; }

 private:
  explicit FileKernel(Device& device) : device_(&device) {}
  Status WriteInput(size_t argument, const KernelVectors& inputs);
  DeviceCall Call() const;

  Device* device_;
  std::vector<KernelArgument> arguments_;
  std::vector<DeviceMemory> memory_;  // memory of each argument
  DeviceMemory workspace_;
  std::shared_ptr<const DeviceCode> code_;
  std::unique_ptr<DeviceKernel> kernel_;
  Lap lap_;
};

}  // namespace tunec
