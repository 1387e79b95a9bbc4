// Where kernels run: memory, loading, launching, timing. The host is a device too, whose memory is
// the program's own. One virtual call starts a whole kernel; nothing here is called for an element.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// Bytes of a device, given back with the last copy of this.
struct DeviceMemory {
  std::shared_ptr<void> owner;
  void* address = nullptr;  // as kernels of the device see it
  /// The same bytes as the host sees them; null where it sees them only through CopyIn and CopyOut.
  std::byte* on_host = nullptr;
};

/// A loaded image on fixed arguments, with its workspace: ready to run as often as wanted. Used by
/// one thread at a time.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  /// Starts all its launches, in order. May return before they are done: what goes wrong in them is
  /// said by Device::Synchronize. Allocates nothing.
  virtual void Launch() = 0;
  /// The seconds that so many times Launch take, one after the other, by the device's own clock.
  /// Waits for them.
  virtual double Seconds(int times) = 0;
  /// Fills workspace and scratch with NaN, so that what is read before it is written shows.
  virtual void Poison() = 0;
};

/// Work is done in the order it was asked for. Used by one thread at a time; outlives its memory
/// and its kernels.
class Device {
 public:
  virtual ~Device() = default;
  /// At least 64-byte aligned, not cleared. kResourceLimit without memory.
  virtual Result<DeviceMemory> Allocate(size_t bytes) = 0;
  /// Copies from the host to the device's memory, and back. Both wait until it is done.
  virtual Status CopyIn(void* to, const void* from, size_t bytes) = 0;
  virtual Status CopyOut(void* to, const void* from, size_t bytes) = 0;
  /// `arguments` are addresses of the device, in the order of the kernel's arguments; what they
  /// point to outlives the runs. Errors: kParse for bytes of another format or damaged ones,
  /// kNotFound for a function that they lack, kResourceLimit without memory.
  virtual Result<std::unique_ptr<DeviceKernel>> Load(const KernelImage& image,
                                                     std::vector<void*> arguments) = 0;
  /// Waits for everything that was started. kDevice for what went wrong since the last time.
  virtual Status Synchronize() = 0;
};

}  // namespace tunec
