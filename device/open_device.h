// Functions that find, check and open the device that runs a target's kernels.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ir/target.h"
#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Checks if OpenDevice would find the device of the target. Errors: kDevice, with what this
/// machine lacks. Compiling for a target that fails this check is allowed.
Status CheckRunsHere(const Target& target, const DeviceChoice& choice = {});

/// Returns the real target that an emulated target stands for; nullopt if the device of `target` is
/// not emulated. Times of kernels are predicted for the returned target.
std::optional<Target> EmulatedTarget(const Target& target);

/// Checks if candidates can be ranked on this machine. Errors: those of CheckRunsHere; the message
/// may name an alternative. If the host emulates the device, the errors are those of FindPtxas,
/// because times are predicted from assembled code.
Status CheckTimesHere(const Target& target, const DeviceChoice& choice = {});

/// Returns a text that identifies the device that OpenDevice would open: `cpu` for the host and for
/// emulated devices, the UUID of a GPU. For a device that is not found, returns the kind. The text
/// is the same in all processes of this machine.
std::string DeviceIdentity(const Target& target, const DeviceChoice& choice = {});

/// Opens the target's device, or the host on the pool's threads if the target has no separate
/// device. The pool must outlive the returned device. `perf_map` applies to code loaded on the
/// host. Errors: those of CheckRunsHere and of opening the device.
Result<std::unique_ptr<Device>> OpenDevice(const Target& target, ThreadPool& pool,
                                           PerfMap perf_map = PerfMap::kOff,
                                           const DeviceChoice& choice = {});

/// A request for a device: the target's accelerator, and a choice among several devices.
struct DeviceRequest {
  const Accelerator& device;
  const DeviceChoice& choice;
};

/// A driver that finds and opens the devices of one kind. Its functions may be called from several
/// threads at once.
struct DeviceDriver {
  std::string kind;  // the Accelerator::kind of the devices
  /// Checks if this machine has or emulates the device. Errors: kDevice, with what is missing.
  std::function<Status(const DeviceRequest&)> check;
  /// Opens the device. Errors: those of `check` and of opening the device. An emulated device runs
  /// on the pool, which outlives the device.
  std::function<Result<std::unique_ptr<Device>>(const DeviceRequest&, ThreadPool&, PerfMap)> open;
  /// Returns the text of DeviceIdentity. An empty function means that there is one device.
  std::function<Result<std::string>(const DeviceRequest&)> identify = {};
};

/// A registration of a driver for targets of the driver's kind. The registration ends with this
/// object. tunec's own drivers need no registration. Requires: no other driver of that kind.
class RegisteredDriver {
 public:
  explicit RegisteredDriver(DeviceDriver driver);
  ~RegisteredDriver();
  RegisteredDriver(const RegisteredDriver&) = delete;
  RegisteredDriver& operator=(const RegisteredDriver&) = delete;

 private:
  std::string kind_;
};

}  // namespace tunec
