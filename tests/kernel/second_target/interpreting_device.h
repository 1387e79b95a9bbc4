// A device whose memory is not visible to the host and whose kernels run later than they are
// started. It runs PrintingGenerator's images by the interpreter. If a caller destroys a kernel
// before its runs complete, the test is stopped.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/open_device.h"
#include "runtime/device.h"

namespace tunec::second_target {

/// The log and the controls of interpreting devices, for tests. It must outlive the devices.
struct Paper {
  std::vector<std::string> log;  // every call
  /// The number of each kernel's failing run, counted from 1; 0: no run fails. The failure loses
  /// the device, and every later call fails.
  int failing_run = 0;
};

/// Returns a device whose clock counts a millisecond per run.
std::unique_ptr<Device> MakeInterpretingDevice(Paper& paper);

/// Returns a driver of kind kKind (printing_generator.h). It only finds devices with the name
/// "paper".
DeviceDriver DriverOf(Paper& paper);

}  // namespace tunec::second_target
