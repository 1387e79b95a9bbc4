// Scales of images as fractions of small integers.
#pragma once

#include <cstdint>
#include <optional>

namespace tunec {

struct Fraction {
  int64_t numerator = 1;
  int64_t denominator = 1;

  double Value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

/// Returns the fraction of the least denominator that equals the scale in float32, found by
/// continued fractions. Returns nullopt if the scale is too large, too small or NaN.
std::optional<Fraction> FractionOfScale(double scale);

}  // namespace tunec
