// A device's memory for one argument of a kernel under test, between two zones that nobody may
// write.
#pragma once

#include <cstddef>

#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// How the data of GuardedMemory is aligned.
enum class Placement {
  kDevices,  // as the device aligns memory
  kCallers,  // as callers place large arrays: 16 bytes behind the beginning of a page
};

/// Copies are the same memory. The device outlives it. Errors of all members: the device's.
class GuardedMemory {
 public:
  /// The data is not cleared; the guard zones hold a pattern.
  static Result<GuardedMemory> Allocate(Device& device, size_t bytes,
                                        Placement placement = Placement::kDevices);

  /// Without the zones.
  const DeviceMemory& data() const { return data_; }
  size_t size() const { return size_; }

  /// Fills the data with 0xff bytes: NaN in every float type, -1 or the largest value in others.
  Status Poison();
  /// Fills the data with zeros.
  Status Clear();
  /// Where the guards were written: bytes before (negative) or after the data; 0 if intact.
  Result<ptrdiff_t> Overrun() const;

 private:
  explicit GuardedMemory(Device& device) : device_(&device) {}

  Device* device_;
  DeviceMemory data_;
  size_t size_ = 0;
};

}  // namespace tunec
