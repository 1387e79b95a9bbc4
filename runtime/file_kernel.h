// A kernel out of a file (kernel_file.h) on a device, with memory for its arguments.
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

/// What every input holds, by a seed: floats in [0.5, 1) and (-1, -0.5], bools, and zeros for
/// integers, which may be indices. Never zeros alone for floats: circuits that switch nothing take
/// less power, and run faster for it.
KernelVectors RandomInputs(const std::vector<KernelArgument>& arguments, uint64_t seed);

/// Used by one thread at a time. The device outlives it.
class FileKernel {
 public:
  /// Errors: those of Device::Load and of its memory.
  static Result<FileKernel> Load(Device& device, const KernelFile& file);

  /// Runs once on the inputs, with outputs that were NaN, and gives these. kInvalidArgument for an
  /// input that is missing, or of another type or size; else errors of the device.
  Result<std::vector<KernelVector>> Run(const KernelVectors& inputs);
  /// Seconds of a run, a sample each, as trials on a device are timed: in laps of runs that find
  /// their arguments in no cache of so many bytes. Reads what the last Run left. Errors: the
  /// device's.
  Result<std::vector<double>> Time(int64_t cache_bytes, int samples);
  /// Of the last Time.
  const Lap& lap() const { return lap_; }

 private:
  explicit FileKernel(Device& device) : device_(&device) {}
  Status WriteInput(size_t argument, const KernelVectors& inputs);
  DeviceCall Call() const;

  Device* device_;
  std::vector<KernelArgument> arguments_;
  std::vector<DeviceMemory> memory_;  // of each argument
  DeviceMemory workspace_;
  std::shared_ptr<const DeviceCode> code_;
  std::unique_ptr<DeviceKernel> kernel_;
  Lap lap_;
};

}  // namespace tunec
