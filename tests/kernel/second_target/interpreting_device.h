// A device whose memory the host does not see and whose kernels run later than they are started.
// It runs PrintingGenerator's images by the interpreter. What Device leaves to its callers it holds
// them to: a kernel that goes before its runs are done stops the test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/open_device.h"
#include "runtime/device.h"

namespace tunec::second_target {

/// What tests see of such devices and do to them. Outlives them.
struct Paper {
  std::vector<std::string> log;  // every call
  /// Which run of each kernel fails, counted from 1; 0: none. The device is lost with it: whatever
  /// is asked of it afterwards fails.
  int failing_run = 0;
};

/// A run takes a millisecond by its clock.
std::unique_ptr<Device> MakeInterpretingDevice(Paper& paper);

/// Finds one for each target of kind kKind (printing_generator.h).
DeviceDriver DriverOf(Paper& paper);

}  // namespace tunec::second_target
