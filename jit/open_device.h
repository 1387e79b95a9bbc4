// The device that a target's kernels run on, and whether this machine has it.
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

/// Whether OpenDevice finds what the target's kernels run on: kDevice with what this machine lacks.
/// Compiling for such a target is fine.
Status CheckRunsHere(const Target& target, const std::string& choice = {});

/// The target that the host stands in for, where its device is emulated: what its kernels are
/// compiled for, and what their times are predicted of. None for any other target.
std::optional<Target> EmulatedTarget(const Target& target);

/// Whether candidates can be ranked here: CheckRunsHere's errors, with what else could be done.
/// Where the host stands in for the device, times are predicted from assembled code, so that what
/// keeps it from being assembled is an error, too.
Status CheckTimesHere(const Target& target);

/// The host on the pool's threads, for targets without a device of their own; else that device. The
/// pool outlives what is returned. `perf_map` is for what is loaded on the host. `choice` says
/// which of several devices, by number or by name as its driver writes it; empty: the first that
/// runs code for the target. Errors: CheckRunsHere's, and what opening the device brings.
Result<std::unique_ptr<Device>> OpenDevice(const Target& target, ThreadPool& pool,
                                           PerfMap perf_map = PerfMap::kOff,
                                           const std::string& choice = {});

/// A device that is looked for: the target's, and which of several (OpenDevice).
struct WantedDevice {
  const Accelerator& device;
  const std::string& choice;
};

/// How the devices of one kind are found. May be called from several threads.
struct DeviceDriver {
  std::string kind;  // Accelerator::kind
  /// kDevice, with what is missing, where this machine has no such device.
  std::function<Status(const WantedDevice&)> check;
  /// Errors: as `check`. What runs on the host in the device's place has the pool, which outlives
  /// it.
  std::function<Result<std::unique_ptr<Device>>(const WantedDevice&, ThreadPool&, PerfMap)> open;
};

/// Makes a driver known for targets of its kind while this object lives. tunec's own are known
/// without. Requires: no other one of that kind.
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
