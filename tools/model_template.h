// A function that returns the library that `tunec build --shared` fills with a model (api/shared/).
#pragma once

#include <cstddef>
#include <span>

namespace tunec {

std::span<const std::byte> ModelTemplate();

}  // namespace tunec
