// The code of a variant for a device, which its driver loads: images, and the kernels in them with
// what they ask for. It is believed, as code_table.h is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec::bundle {

struct DeviceCodeTable {
  std::vector<KernelImage> images;
  std::vector<KernelContract> kernels;  // without phases, which are the image's
  std::vector<int64_t> image_of;        // of each kernel
  bool operator==(const DeviceCodeTable&) const = default;
};

std::string Serialize(const DeviceCodeTable& code);
/// The inverse. kParse when it is damaged.
Result<DeviceCodeTable> ParseDeviceCode(std::span<const std::byte> bytes);

}  // namespace tunec::bundle
