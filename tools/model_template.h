// The library that `tunec build --shared` makes others of: api/shared/.
#pragma once

#include <cstddef>
#include <span>

namespace tunec {

std::span<const std::byte> ModelTemplate();

}  // namespace tunec
