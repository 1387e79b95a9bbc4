// Conversion of a resize's scale to a fraction with a small denominator.
#pragma once

#include <cstdint>
#include <optional>

namespace tunec {

struct Fraction {
  int64_t numerator = 1;
  int64_t denominator = 1;

  double Value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

/// Returns the first convergent of the scale's continued fraction with a relative error of at most
/// 1e-7, about the precision of float32. Returns nullopt if its denominator exceeds 65536, or if
/// the scale is NaN, not positive, or above 2^24.
std::optional<Fraction> FractionOfScale(double scale);

}  // namespace tunec
