// Code of a variant for a device: images, which the device's driver loads, and the kernels of the
// images with their requirements. The code is trusted, as code_table.h explains.
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

/// The images and kernels of a variant. A kernel consists of all functions of one image.
struct DeviceCodeTable {
  std::vector<KernelImage> images;
  std::vector<KernelContract> kernels;  // without phases; the image has the phases
  std::vector<int64_t> image_of;        // number of each kernel's image
  bool operator==(const DeviceCodeTable&) const = default;
};

std::string Serialize(const DeviceCodeTable& code);
/// Parses a table. Fails with kParse if it is damaged.
Result<DeviceCodeTable> ParseDeviceCode(std::span<const std::byte> bytes);

}  // namespace tunec::bundle
