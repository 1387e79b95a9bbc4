#include "ir/sizes.h"

#include <algorithm>

namespace tunec {

bool IsShape(std::span<const int64_t> extents) {
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t count = 1;
  for (const int64_t extent : extents) {
    if (extent < 0 || extent > kMost / count) return false;
    if (extent != 0) count *= extent;
  }
  return true;
}

int64_t MultiplySizes(int64_t a, int64_t b) {
  constexpr int64_t kLimit = int64_t{1} << 60;
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kLimit : -kLimit;
  return std::clamp(product, -kLimit, kLimit);
}

}  // namespace tunec
