// Interface of the devices that run kernels: memory, loading, starting, timing. The host is a
// device too; its memory is the program's memory. One virtual call starts a whole kernel or all
// kernels of a model, and never a single element.
//
// An image is loaded once, and its code may be bound to arguments many times. The tuner binds each
// candidate once; a model binds the code of equal groups many times.
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

/// Default timeout in seconds after which a launch counts as hung.
inline constexpr double kHangSeconds = 120;

/// The choice among several devices, and the timeout of launches.
struct DeviceChoice {
  std::string name = {};  // number or UUID of the device; empty: the first device that
                          // runs code for the target
  double hang_seconds = kHangSeconds;
};

/// A block of device memory, freed with the last copy of this object.
struct DeviceMemory {
  std::shared_ptr<void> owner;
  void* address = nullptr;  // address for kernels of the device
  /// Address of the same bytes for the host; null if the host can access them only through CopyIn
  /// and CopyOut.
  std::byte* on_host = nullptr;
};

/// The functions of an image in a device's memory. Immutable: the code may be bound many times,
/// also while its kernels run.
class DeviceCode {
 public:
  virtual ~DeviceCode() = default;
  /// Returns the functions for direct calls without a device, as an Executable of the host makes
  /// them: a step then costs no virtual call. A copy may outlive the code and its device. Returns
  /// null if the host cannot call the functions.
  virtual const Kernel* OnHost() const { return nullptr; }
};

/// Loaded code bound to arguments, which may run many times. The kernel keeps its code loaded. The
/// kernel and the bound memory must exist until all runs are done, that is, until Seconds or
/// Device::Synchronize has returned. Only one thread at a time may use a kernel.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  /// Sets the address of an argument from the next Start on. Allocates nothing.
  virtual void SetArgument(size_t number, void* address) = 0;
  /// Starts the launches of all phases in order, with all waves. The call may return before they
  /// are done; Device::Synchronize or Device::Mark returns their errors. Allocates nothing.
  virtual void Start() = 0;
  /// Returns the time of this number of consecutive starts in seconds, by the device's clock. Waits
  /// for them. Fails with kDevice for errors in these runs or in work started before.
  virtual Result<double> Seconds(int times) = 0;
  /// Fills workspace and scratch with NaN, in order with Start, so that a read before a write
  /// becomes visible.
  virtual void Poison() = 0;
};

/// Loaded code with its arguments and workspace, as Device::Bind takes them. A DeviceSequence has
/// one DeviceCall for each kernel.
struct DeviceCall {
  std::shared_ptr<const DeviceCode> code;
  std::vector<void*> arguments;
  void* workspace = nullptr;
};

/// Kernels that always run in the same order and are started by one call. A device may store them
/// as one unit of work. The requirements of a DeviceKernel apply to each sequence.
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
  /// Returns the reason why the kernels are started one by one, although the device can store
  /// kernels as one unit of work. It is empty if they are one unit or the device stores no units.
  virtual std::string Note() const { return {}; }
};

/// A planned allocation with its purpose: "weights".
struct MemoryNeed {
  std::string_view what;
  int64_t bytes = 0;
};

/// The direction of a copy: host to device, device to host, within the device.
enum class CopyWay : uint8_t { kIn, kOut, kWithin };

/// A device. Work runs in the order of the calls. After the error kDevice it may be unusable: a
/// fault can end all work of the process on it. Only one thread at a time may use an object. The
/// device must outlive the memory, the code and the kernels that it made.
class Device {
 public:
  virtual ~Device() = default;
  /// Opens the same device for another thread, with a separate order of work. Neither order waits
  /// for the other. Both objects can use each other's memory and code. Memory and code of this
  /// object must be freed before the object is destroyed. May be called by several threads at once
  /// if this object does no other work meanwhile. Fails with kResourceLimit without memory.
  virtual Result<std::unique_ptr<Device>> OpenQueue() = 0;
  /// Returns the number by which callers' tensors refer to this device. None: callers' tensors are
  /// in host memory only.
  virtual std::optional<int> Number() const { return std::nullopt; }
  /// Directs further work into the caller's stream, in order with other work there; null: into the
  /// device's own stream again. Requires: no work was started since the last Synchronize or Mark.
  /// Fails with kUnsupported for a stream if the device has no streams.
  virtual Status UseStream(void* stream);

  /// Marks the end of the work in a caller's stream, for callers that do not wait. Returns errors
  /// that are known so far. Later errors are returned once: by HasReachedMark, WaitForMark or the
  /// next Synchronize, whichever is first. Fails with kUnsupported if the device has no streams.
  virtual Status Mark();
  /// Makes further work in the current stream wait for the mark, which may be in another stream.
  /// The next Synchronize or Mark returns an error of this call.
  virtual void FollowMark() {}
  /// Returns true if all work before the mark is done, or if there is no mark. Fails with kDevice
  /// for errors of this work.
  virtual Result<bool> HasReachedMark() { return true; }
  /// Waits until the mark is reached. Fails with kDevice for errors of the work, and on a timeout.
  virtual Status WaitForMark() { return {}; }

  /// Fails with kResourceLimit if it is known that the memory cannot be allocated. The message has
  /// the needed and the free bytes.
  virtual Status CheckRoom(std::span<const MemoryNeed> needs);
  /// Allocates memory that is at least 64-byte aligned and not cleared. Fails with kResourceLimit
  /// without memory.
  virtual Result<DeviceMemory> Allocate(size_t bytes) = 0;
  /// CopyIn copies from the host to the device's memory, CopyOut copies back. Both wait until the
  /// copy is done, and fail with kDevice like Synchronize.
  virtual Status CopyIn(void* to, const void* from, size_t bytes) = 0;
  virtual Status CopyOut(void* to, const void* from, size_t bytes) = 0;
  /// Start copies without waiting, also within the device's memory. Both ends must stay valid until
  /// Synchronize, which returns errors. However, StartCopyIn reads pageable host memory before it
  /// returns; all memory that tunec allocates is pageable. The three functions allocate nothing.
  virtual void StartCopyIn(void* to, const void* from, size_t bytes) = 0;
  virtual void StartCopyOut(void* to, const void* from, size_t bytes) = 0;
  virtual void StartCopy(void* to, const void* from, size_t bytes) = 0;
  /// Starts a copy of rows in any direction, like the three functions above. This implementation
  /// copies each row separately.
  virtual void StartCopyRows(CopyWay way, void* to, const void* from, const CopiedRows& rows);
  /// Sets each of the `bytes` bytes to `value`, in order with copies and kernels. Does not wait.
  /// Fails with kDevice.
  virtual Status Fill(void* to, std::byte value, size_t bytes) = 0;
  /// Loads an image. Errors: kParse for damaged bytes or another format, kNotFound for a missing
  /// function, kResourceLimit without memory.
  virtual Result<std::shared_ptr<const DeviceCode>> Load(const KernelImage& image) = 0;
  /// Binds code to arguments. `arguments` are device addresses in the order of the kernel's
  /// arguments. `workspace` is the device address of the image's workspace_bytes, or null for 0
  /// bytes. Kernels may share a workspace because they run one after the other. Errors:
  /// kResourceLimit without memory for other needs of the kernel. Requires: this device loaded the
  /// code.
  virtual Result<std::unique_ptr<DeviceKernel>> Bind(std::shared_ptr<const DeviceCode> code,
                                                     std::vector<void*> arguments,
                                                     void* workspace) = 0;
  /// Binds all kernels. In this implementation each kernel is then started separately. Errors and
  /// requirements: as Bind.
  virtual Result<std::unique_ptr<DeviceSequence>> Record(std::vector<DeviceCall> calls);
  /// Waits for all started work. Fails with kDevice for errors that no call has returned yet, and
  /// on a timeout.
  virtual Status Synchronize() = 0;
};

}  // namespace tunec
