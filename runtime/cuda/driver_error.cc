#include "runtime/cuda/driver_error.h"

#include <fmt/format.h>

namespace tunec {

std::string DescribeCuResult(const CudaDriver& driver, CuResult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  const int number = static_cast<int>(result);
  if (driver.GetErrorName(result, &name) != CuResult::kSuccess || name == nullptr) {
    return fmt::format("CUDA error {}", number);
  }
  if (driver.GetErrorString(result, &text) != CuResult::kSuccess || text == nullptr) {
    return fmt::format("{} ({})", name, number);
  }
  return fmt::format("{} ({}): {}", name, number, text);
}

bool LosesDevice(CuResult result) {
  switch (result) {
    case CuResult::kEccUncorrectable:
    case CuResult::kNvlinkUncorrectable:
    case CuResult::kIllegalAddress:
    case CuResult::kLaunchTimeout:
    case CuResult::kAssert:
    case CuResult::kHardwareStackError:
    case CuResult::kIllegalInstruction:
    case CuResult::kMisalignedAddress:
    case CuResult::kInvalidAddressSpace:
    case CuResult::kInvalidPc:
    case CuResult::kLaunchFailed:
    case CuResult::kUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace tunec
