#include "runtime/sized/choose_sizes.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tunec {
namespace {

// The rounded sizes above a power of two are the power plus kAdded / kParts of the power. The
// ratios of consecutive sizes are about equal; with equal steps, the first step would be a quarter.
// Because kParts is only 16, sizes from 64 on are multiples of 4, and sizes from 128 on are
// multiples of 8. Kernels read the rows of such sizes aligned.
constexpr int64_t kParts = 16;
constexpr std::array<int64_t, 4> kAdded = {3, 7, 11, 16};

int64_t PowerBelow(int64_t size) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size - 1)));
}

/// Returns `power` plus `added` / kParts of it, rounded up. Requires: `power` is a power of two and
/// at least kEachSizeUpTo.
int64_t SizeAbove(int64_t power, int64_t added) {
  return power + (power < kParts ? (power * added + kParts - 1) / kParts : power / kParts * added);
}

/// Returns the largest result of RoundUpSize that is less than `size`; 0 for size 1.
int64_t SizeBefore(int64_t size) {
  if (size <= kEachSizeUpTo) return size - 1;
  const int64_t power = PowerBelow(size);
  int64_t before = power;
  for (const int64_t added : kAdded) {
    const int64_t above = SizeAbove(power, added);
    if (above < size) before = above;
  }
  return before;
}

/// Returns the greatest multiple of `step` up to RoundUpSize. If it is less than `size`, returns
/// the least multiple from `size` on, or `size` if that would overflow.
int64_t RoundUpSize(int64_t size, int64_t step) {
  const int64_t rounded = tunec::RoundUpSize(size) / step * step;
  if (rounded >= size) return rounded;
  int64_t more = 0;
  if (__builtin_add_overflow(size, step - 1, &more)) return size;
  return more / step * step;
}

}  // namespace

int64_t RoundUpSize(int64_t size) {
  if (size <= kEachSizeUpTo) return size;
  const int64_t power = PowerBelow(size);
  const auto found =
      std::ranges::find_if(kAdded, [&](int64_t added) { return size <= SizeAbove(power, added); });
  return SizeAbove(power, *found);
}

Sizes RoundedSizes(int64_t least, int64_t most, int64_t step) {
  const int64_t last = most / step * step;
  Sizes sizes;
  for (int64_t size = RoundUpSize(least, step); size < last; size = RoundUpSize(size + 1, step))
    sizes.push_back(size);
  sizes.push_back(last);
  return sizes;
}

SizeBucket BucketOf(int64_t size, const ListedSizes& listed) {
  const auto found = std::ranges::lower_bound(listed.sizes, size);
  if (found == listed.sizes.end()) {
    const int64_t rounded = RoundUpSize(size, listed.step);
    return {rounded, rounded > kEachSizeUpTo || rounded != size};
  }
  // A run of size 1 on code for 2 would be half padding, so these two sizes have separate code.
  if (*found <= 2) return {size, false};
  const int64_t before = found == listed.sizes.begin() ? 0 : *(found - 1);
  return {*found, *found - before > 1};
}

int64_t LeastOfBucket(int64_t size, const ListedSizes& listed) {
  const auto found = std::ranges::lower_bound(listed.sizes, size);
  const int64_t before = found == listed.sizes.begin() ? 0 : *(found - 1);
  if (found != listed.sizes.end()) return before + 1;
  return std::max(before, SizeBefore(size)) + 1;
}

Sizes CutSize(int64_t size, const Sizes& parts) {
  Sizes cut;
  for (size_t i = parts.size(); i-- > 0;) {
    while (size >= parts[i]) {
      cut.push_back(parts[i]);
      size -= parts[i];
    }
  }
  if (size > 0) cut.push_back(parts[0]);
  return cut;
}

}  // namespace tunec
