// Functions that check and multiply sizes from the user, such as extents, without overflow.
#pragma once

#include <cstdint>
#include <span>

namespace tunec {

/// Returns whether a value may have this shape: no extent is negative, and the product of the
/// nonzero extents is at most 2^48. The product of any subset of the extents therefore cannot
/// overflow, even if another extent is 0.
bool IsShape(std::span<const int64_t> extents);

/// Returns a * b, limited to the range -2^60 to 2^60. No valid size is that large, and a few
/// results can be added without overflow.
int64_t MultiplySizes(int64_t a, int64_t b);

}  // namespace tunec
