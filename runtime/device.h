// Interface of the devices that run kernels: memory, loading, starting, timing. The host is a
// device too; its memory is the program's memory. One virtual call starts a whole kernel or a
// sequence of kernels, and never a single element.
//
// The code of a loaded image may be bound to arguments many times. For example, a model binds the
// code of equal groups many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/copy_slice.h"
#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// Default time in seconds of a wait after which the work counts as hung.
inline constexpr double kHangSeconds = 120;

/// The choice among several devices, and the timeout of waits for work.
struct DeviceChoice {
  std::string name = {};  // number or UUID of the device; empty: the first device that
                          // runs code for the target
  double hang_seconds = kHangSeconds;
};

/// A block of device memory, freed with the last copy of this object.
struct DeviceMemory {
  std::shared_ptr<void> owner;
  void* address = nullptr;  // address for kernels of the device
  /// Address of the same bytes for the host; null if the host can access the bytes only by copies.
  std::byte* on_host = nullptr;
};

/// The functions of an image in a device's memory. Immutable: the code may be bound many times,
/// also while its kernels run.
class DeviceCode {
 public:
  virtual ~DeviceCode() = default;
  /// Returns the functions for direct calls without a device, as an Executable of the host makes
  /// them: a step then costs no virtual call. A copy of the Kernel may outlive the code and the
  /// device. Returns null if the host cannot call the functions.
  virtual const Kernel* OnHost() const { return nullptr; }
};

/// Loaded code bound to arguments, which may run many times. The kernel keeps its code loaded. The
/// kernel and the bound memory must exist until all runs are done. Only one thread at a time may
/// use a kernel.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  /// Sets the address of an argument from the next Start on. Allocates nothing.
  virtual void SetArgument(size_t number, void* address) = 0;
  /// Starts the launches of all phases in order, with all waves. The call may return before the
  /// launches are done; later waits or Device::Mark return errors. Allocates only for an error.
  virtual void Start() = 0;
  /// Returns the time of this number of consecutive starts in seconds, by the device's clock. Waits
  /// for them. Fails with kDevice for errors in these runs or in work started before.
  virtual Result<double> Seconds(int times) = 0;
  /// Fills workspace and scratch with NaN, in order with Start, so that a read before a write
  /// becomes visible.
  virtual void Poison() = 0;
};

/// Loaded code with its arguments and workspace, as Device::Bind takes them. Device::Record takes
/// one DeviceCall for each kernel.
struct DeviceCall {
  std::shared_ptr<const DeviceCode> code;
  std::vector<void*> arguments;
  void* workspace = nullptr;
};

/// Kernels that one call starts in a fixed order. A device may store the kernels as one unit of
/// work. The requirements of a DeviceKernel apply to each sequence.
class DeviceSequence {
 public:
  virtual ~DeviceSequence() = default;
  /// Sets the address of an argument of a kernel from the next Start on. Allocates nothing.
  virtual void SetArgument(size_t kernel, size_t argument, void* address) = 0;
  /// Starts all kernels, like DeviceKernel::Start.
  virtual void Start() = 0;
  /// Starts one kernel alone and returns its time, like DeviceKernel::Seconds(1).
  virtual Result<double> Seconds(size_t kernel) = 0;
  /// Returns the time of this number of starts of all kernels, like DeviceKernel::Seconds.
  virtual Result<double> SecondsOfAll(int times) = 0;
  /// Returns the reason why a device that can store kernels as one unit of work starts the kernels
  /// one by one. Otherwise returns an empty text.
  virtual std::string Note() const { return {}; }
};

/// A planned allocation with its purpose, such as "weights".
struct MemoryNeed {
  std::string_view what;
  int64_t bytes = 0;
};

/// The direction of a copy: host to device, device to host, within the device.
enum class CopyWay : uint8_t { kIn, kOut, kWithin };

/// A device, or a queue of a device (OpenQueue). An object's work runs in the order of the calls.
/// After the error kDevice the device may be unusable for the process. Only one thread at a time
/// may use an object, except for OpenQueue. An object must outlive its memory, code and kernels.
class Device {
 public:
  virtual ~Device() = default;
  /// Opens the same device for another thread, with a separate order of work. Neither order waits
  /// for the other. Both objects can use each other's memory and code. Memory and code of this
  /// object must be freed before the object is destroyed. May be called by several threads at once
  /// if this object does no other work meanwhile. Errors: kResourceLimit without memory, kDevice.
  virtual Result<std::unique_ptr<Device>> OpenQueue() = 0;
  /// Returns the number by which callers' tensors refer to this device. None: callers' tensors are
  /// in host memory only.
  virtual std::optional<int> Number() const { return std::nullopt; }
  /// Directs further work into the caller's stream, in order with other work there; null: into the
  /// device's own stream again. Requires: no work was started since the last Synchronize or Mark.
  /// Fails with kUnsupported for a stream if the device has no streams.
  virtual Status UseStream(void* stream);

  /// Marks the end of the work in the current stream, for callers that do not wait. Returns errors
  /// that are known so far. Later errors are returned by HasReachedMark, WaitForMark or the next
  /// Synchronize, whichever is first. Fails with kUnsupported if the device has no streams.
  virtual Status Mark();
  /// Makes further work in the current stream wait for the mark, if there is one, which may be in
  /// another stream. The next Synchronize or Mark returns an error of this call.
  virtual void FollowMark() {}
  /// Returns true if all work before the mark is done, or if there is no mark. Fails with kDevice
  /// for errors of this work.
  virtual Result<bool> HasReachedMark() { return true; }
  /// Waits for the mark, if there is one. Errors: kDevice for errors of the work, and on a timeout.
  virtual Status WaitForMark() { return {}; }

  /// Fails with kResourceLimit and the needed and free bytes if the device reports too little free
  /// memory. May also fail with kDevice.
  virtual Status CheckRoom(std::span<const MemoryNeed> needs);
  /// Allocates memory that is at least 64-byte aligned and not cleared. Fails with kResourceLimit
  /// without memory, and with kDevice for other errors.
  virtual Result<DeviceMemory> Allocate(size_t bytes) = 0;
  /// CopyIn copies from host memory to device memory; CopyOut copies from device memory to host
  /// memory. Both wait until the copy is done, and fail like Synchronize.
  virtual Status CopyIn(void* to, const void* from, size_t bytes) = 0;
  virtual Status CopyOut(void* to, const void* from, size_t bytes) = 0;
  /// Start a copy into, out of or within the device's memory. A call may return before its copy is
  /// done; Synchronize or Mark returns errors. Both ends must stay valid until the copy is done.
  /// However, StartCopyIn reads pageable host memory before it returns. Host memory that tunec
  /// allocates is pageable. Without an error, the three functions allocate nothing.
  virtual void StartCopyIn(void* to, const void* from, size_t bytes) = 0;
  virtual void StartCopyOut(void* to, const void* from, size_t bytes) = 0;
  virtual void StartCopy(void* to, const void* from, size_t bytes) = 0;
  /// Starts a copy of rows in any direction, like the three functions above. This implementation
  /// copies each row separately.
  virtual void StartCopyRows(CopyWay way, void* to, const void* from, const CopiedRows& rows);
  /// Sets each of the `bytes` bytes to `value`, in order with copies and kernels. The call may
  /// return before this is done. Fails with kDevice for errors of the device.
  virtual Status Fill(void* to, std::byte value, size_t bytes) = 0;
  /// Loads an image. Errors include kParse for damaged bytes or another format, kNotFound for a
  /// missing function, kResourceLimit without memory, and kDevice.
  virtual Result<std::shared_ptr<const DeviceCode>> Load(const KernelImage& image) = 0;
  /// Binds code to arguments. `arguments` are device addresses in the order of the kernel's
  /// arguments. `workspace` is the device address of the image's workspace_bytes, or null for 0
  /// bytes. Kernels may share a workspace because they run one after the other. Errors:
  /// kResourceLimit without memory for other needs of the kernel, and kDevice. Requires: this
  /// object, or another object for the same device, loaded the code.
  virtual Result<std::unique_ptr<DeviceKernel>> Bind(std::shared_ptr<const DeviceCode> code,
                                                     std::vector<void*> arguments,
                                                     void* workspace) = 0;
  /// Binds all kernels. In this implementation each kernel is then started separately. Errors and
  /// requirements: as Bind.
  virtual Result<std::unique_ptr<DeviceSequence>> Record(std::vector<DeviceCall> calls);
  /// Waits for the work in the current stream. Fails for errors that no call has returned yet, on a
  /// timeout, and if the device is lost.
  virtual Status Synchronize() = 0;
};

}  // namespace tunec
