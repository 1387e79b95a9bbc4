// The orders in which images lie in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// How a value [N, C, spatial...] is stored.
enum class ImageOrder : uint8_t {
  kChannelsFirst,  // row-major
  kChannelsLast,   // [N, spatial..., C]
  kBlocked,        // [N, C/lanes, spatial..., lanes]
};

/// The layout of an order. kBlocked pads the channels to a multiple of the lanes.
Layout MakeLayout(ImageOrder order, const std::vector<int64_t>& shape, int64_t lanes);

}  // namespace tunec
