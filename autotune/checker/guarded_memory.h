// A device's memory for one argument of a kernel under test, between two guard zones that must not
// be written.
#pragma once

#include <cstddef>

#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// The alignment of the data of GuardedMemory.
enum class Placement {
  kDevices,  // alignment of the device's own allocations
  kCallers,  // alignment of a caller's large arrays: 16 bytes after the start of a page
};

/// A handle of device memory between two guard zones; copies share the memory. Requires: the device
/// outlives all copies. Errors of all members: those of the device.
class GuardedMemory {
 public:
  /// Allocates memory. The data is not initialized; the guard zones hold a pattern.
  static Result<GuardedMemory> Allocate(Device& device, size_t bytes,
                                        Placement placement = Placement::kDevices);

  /// Returns the data without the guard zones.
  const DeviceMemory& data() const { return data_; }
  size_t size() const { return size_; }

  /// Fills the data with 0xff bytes: NaN in every float type, -1 in every signed integer type.
  Status Poison();
  /// Fills the data with zeros.
  Status Clear();
  /// Returns the distance in bytes from the data to the nearest guard byte that has changed:
  /// negative before the data, positive after it, 0 if no guard byte has changed.
  Result<ptrdiff_t> Overrun() const;

 private:
  explicit GuardedMemory(Device& device) : device_(&device) {}

  Device* device_;
  DeviceMemory data_;
  size_t size_ = 0;
};

}  // namespace tunec
