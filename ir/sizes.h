// Arithmetic on sizes that a user gives: extents, strides, numbers of elements.
#pragma once

#include <cstdint>
#include <span>

namespace tunec {

/// Whether a value may have this shape: no extent is negative, and the product of those that are
/// not 0 is at most 2^48. So the product of any of them is safe, also where there are no elements.
bool IsShape(std::span<const int64_t> extents);

/// a * b, limited to 2^60 and -2^60. No valid size is that large, and a few such may be added up:
/// whoever checks the outcome against the sizes that are valid need not think of overflow.
int64_t MultiplySizes(int64_t a, int64_t b);

}  // namespace tunec
