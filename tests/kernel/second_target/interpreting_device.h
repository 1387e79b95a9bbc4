// A device whose memory the host does not see and whose kernels run later than they are launched.
// It runs PrintingGenerator's images by the interpreter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace tunec::second_target {

/// Every call is told of in `log`, which outlives the device.
std::unique_ptr<Device> MakeInterpretingDevice(std::vector<std::string>& log);

}  // namespace tunec::second_target
