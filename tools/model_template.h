// The library that `tunec build --shared` copies and fills with a model: see api/shared/.
#pragma once

#include <cstddef>
#include <span>

namespace tunec {

std::span<const std::byte> ModelTemplate();

}  // namespace tunec
