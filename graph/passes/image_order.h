// Storage orders of images, and their layouts.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// A storage order of a value [N, C, spatial...].
enum class ImageOrder : uint8_t {
  kChannelsFirst,  // row-major
  kChannelsLast,   // [N, spatial..., C]
  kBlocked,        // [N, C/lanes, spatial..., lanes]
};

/// Returns the layout of a value of the shape `shape` in the storage order `order`. kBlocked pads
/// the channels to a multiple of `lanes`. The other orders ignore `lanes`.
Layout MakeLayout(ImageOrder order, const std::vector<int64_t>& shape, int64_t lanes);

}  // namespace tunec
