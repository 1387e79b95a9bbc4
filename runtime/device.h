// Where kernels run: memory, loading, starting, timing. The host is a device too, whose memory is
// the program's own. One virtual call starts a whole kernel, or all kernels of a model; nothing
// here is called for an element.
//
// An image is loaded once and its code bound to arguments as often as wanted: the tuner binds each
// candidate once, a model binds the code of equal groups many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/copy_box.h"
#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// What is waited for so long, and is not done, hangs, unless someone says otherwise.
inline constexpr double kHangSeconds = 120;

/// Which device of several, and what is said to hang there.
struct DeviceChoice {
  std::string name = {};  // its number, or its name as its driver writes it; empty: the first that
                          // runs code for the target
  double hang_seconds = kHangSeconds;
};

/// Bytes of a device, given back with the last copy of this.
struct DeviceMemory {
  std::shared_ptr<void> owner;
  void* address = nullptr;  // as kernels of the device see it
  /// The same bytes as the host sees them; null where it sees them only through CopyIn and CopyOut.
  std::byte* on_host = nullptr;
};

/// The functions of an image in a device's memory. Immutable: may be bound many times, also while
/// kernels of it run.
class DeviceCode {
 public:
  virtual ~DeviceCode() = default;
  /// The same functions for who calls them without a device in between, as an Executable of the
  /// host does: then a step costs no virtual call. A copy may outlive the code and its device. Null
  /// where the host cannot call them.
  virtual const Kernel* OnHost() const { return nullptr; }
};

/// Loaded code on arguments: ready to run as often as wanted. It keeps its code loaded. Neither the
/// kernel nor the memory that it was bound to may go before its runs are done: before Seconds or
/// Device::Synchronize has returned. Used by one thread at a time.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  /// From the next Start on the argument of that number lies there. Allocates nothing.
  virtual void SetArgument(size_t number, void* address) = 0;
  /// Starts the launches of all phases, in order, with all their waves. May return before they are
  /// done: what goes wrong in them is said by Device::Synchronize. Allocates nothing.
  virtual void Start() = 0;
  /// The seconds that so many times Start take, one after the other, by the device's own clock.
  /// Waits for them. kDevice for what went wrong in them or in what was started before.
  virtual Result<double> Seconds(int times) = 0;
  /// Fills workspace and scratch with NaN, so that what is read before it is written shows.
  /// In order, as Start.
  virtual void Poison() = 0;
};

/// One kernel of a DeviceSequence, as Device::Bind is given it.
struct DeviceCall {
  std::shared_ptr<const DeviceCode> code;
  std::vector<void*> arguments;
  void* workspace = nullptr;
};

/// Kernels that always run in the same order, started by one call: a device may keep them as one
/// piece of work. What holds for a DeviceKernel holds for it.
class DeviceSequence {
 public:
  virtual ~DeviceSequence() = default;
  /// From the next Start on this argument of that kernel lies there. Allocates nothing.
  virtual void SetArgument(size_t kernel, size_t argument, void* address) = 0;
  /// Starts all kernels, as DeviceKernel::Start does one.
  virtual void Start() = 0;
  /// Starts that kernel alone, as DeviceKernel::Seconds(1).
  virtual Result<double> Seconds(size_t kernel) = 0;
  /// The seconds that so many times Start take, as DeviceKernel::Seconds.
  virtual Result<double> SecondsOfAll(int times) = 0;
  /// Why the kernels are started one by one, where the device could have kept them as one piece of
  /// work; empty: it does, or never can.
  virtual std::string Note() const { return {}; }
};

/// Bytes that are about to be allocated, and what for: "weights".
struct MemoryNeed {
  std::string_view what;
  int64_t bytes = 0;
};

/// Between which memories something is copied.
enum class CopyWay : uint8_t { kIn, kOut, kWithin };

/// Work is done in the order it was asked for. After kDevice a device may be of no use any more: a
/// fault can end all that a process has on it. Used by one thread at a time; outlives its memory,
/// its code and its kernels.
class Device {
 public:
  virtual ~Device() = default;
  /// The same device for another thread, with an order of work of its own, which this one's does
  /// not wait for. Memory and code of either are the other's, too; what this one has loaded and
  /// allocated goes before it does. May be called by several threads at once, while nothing else is
  /// asked of this one. kResourceLimit without memory.
  virtual Result<std::unique_ptr<Device>> OpenQueue() = 0;
  /// The number by which callers' tensors name the device whose memory they lie in. None where they
  /// lie in the host's memory only.
  virtual std::optional<int> Number() const { return std::nullopt; }
  /// From now on work is put into this stream of the caller's, in order with what others put there;
  /// null: into its own again. Requires: it was synchronized, or Mark was the last that was asked
  /// of it. kUnsupported where there are none.
  virtual Status UseStream(void* stream);

  /// For who does not wait for what was started in a caller's stream: marks its end there. What
  /// went wrong so far is the answer; what goes wrong later is that of Reached, of WaitForMark, or
  /// of the next Synchronize, whichever is first. kUnsupported where there are no streams.
  virtual Status Mark();
  /// What is started from now on waits for the mark, in whatever stream. A failure is said by the
  /// next Synchronize.
  virtual void FollowMark() {}
  /// Whether all before the mark is done, or there is none. kDevice for what went wrong there.
  virtual Result<bool> Reached() { return true; }
  /// Waits until it is. kDevice also for what does not end.
  virtual Status WaitForMark() { return {}; }

  /// kResourceLimit, with what is needed and what is free, where the device knows that so much
  /// cannot be allocated.
  virtual Status CheckRoom(std::span<const MemoryNeed> needs);
  /// At least 64-byte aligned, not cleared. kResourceLimit without memory.
  virtual Result<DeviceMemory> Allocate(size_t bytes) = 0;
  /// Copies from the host to the device's memory, and back. Both wait until it is done. kDevice as
  /// Synchronize.
  virtual Status CopyIn(void* to, const void* from, size_t bytes) = 0;
  virtual Status CopyOut(void* to, const void* from, size_t bytes) = 0;
  /// The same without waiting, and copies within the device's memory: both ends stay until
  /// Synchronize, which says what went wrong. But pageable memory of the host, which every
  /// allocation of this program is, is read before StartCopyIn returns. Allocates nothing.
  virtual void StartCopyIn(void* to, const void* from, size_t bytes) = 0;
  virtual void StartCopyOut(void* to, const void* from, size_t bytes) = 0;
  virtual void StartCopy(void* to, const void* from, size_t bytes) = 0;
  /// Rows of either way, as the three above. Here each is copied by itself.
  virtual void StartCopyRows(CopyWay way, void* to, const void* from, const CopiedRows& rows);
  /// Sets each byte, in order with copies and kernels. Does not wait.
  virtual Status Fill(void* to, std::byte value, size_t bytes) = 0;
  /// Errors: kParse for bytes of another format or damaged ones, kNotFound for a function that they
  /// lack, kResourceLimit without memory.
  virtual Result<std::shared_ptr<const DeviceCode>> Load(const KernelImage& image) = 0;
  /// `arguments` are addresses of the device, in the order of the kernel's arguments. `workspace`
  /// is one too, of the image's workspace_bytes; null where it wants none. Kernels may share one,
  /// since they run one after the other. Errors: kResourceLimit without memory for what else the
  /// kernel needs. Requires: code that this device loaded.
  virtual Result<std::unique_ptr<DeviceKernel>> Bind(std::shared_ptr<const DeviceCode> code,
                                                     std::vector<void*> arguments,
                                                     void* workspace) = 0;
  /// Binds all of them. Here each is then started by itself. Errors and requires: as Bind.
  virtual Result<std::unique_ptr<DeviceSequence>> Record(std::vector<DeviceCall> calls);
  /// Waits for everything that was started. kDevice for what went wrong since the last time, and
  /// for what does not end.
  virtual Status Synchronize() = 0;
};

}  // namespace tunec
