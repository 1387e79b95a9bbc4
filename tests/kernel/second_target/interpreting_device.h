// A device for tests. The memory is not visible to the host, and started kernels run when a later
// call waits for them. The interpreter runs the images of PrintingGenerator. The test program is
// stopped if a caller destroys a kernel before the kernel's runs complete.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/open_device.h"
#include "runtime/device.h"

namespace tunec::second_target {

/// The log of interpreting devices, and the run that fails. The object must outlive the devices.
struct Paper {
  std::vector<std::string> log;  // most calls, in order
  /// The number of the run that fails, counted from 1 for each kernel; 0: no run fails. After
  /// this run, the device is lost, and every call that waits for started operations fails.
  int failing_run = 0;
};

/// Returns a device whose clock counts a millisecond per run.
std::unique_ptr<Device> MakeInterpretingDevice(Paper& paper);

/// Returns a driver of kind kKind (printing_generator.h). It only finds devices with the name
/// "paper".
DeviceDriver DriverOf(Paper& paper);

}  // namespace tunec::second_target
