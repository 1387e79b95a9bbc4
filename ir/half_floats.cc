// The conversions of 16-bit floats that array.h declares. They have a separate file, because a
// deployed program needs the conversions but not arrays.
#include <bit>

#include "ir/array.h"

namespace tunec {

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fU;
  const uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  // Zeros and subnormals: the mantissa counts units of 2^-24.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t FloatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    return sign | 0x7e00U | static_cast<uint16_t>(magnitude >> 13 & 0x1ffU);  // NaN, made quiet
  }
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // 65520 and above round to infinity
  if (magnitude < 0x38800000U) {
    // Below 2^-14, adding 0.5 leaves the units of 2^-24, rounded, in the low mantissa bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000U);
  }
  const uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded >> 13) - (112U << 10));
}

float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>(bits >> 16 | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1)) >> 16);
}

}  // namespace tunec
