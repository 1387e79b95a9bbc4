#include "runtime/sized/choose_sizes.h"

#include <algorithm>
#include <bit>

namespace tunec {
namespace {

/// Between the sizes of RoundUpSize around this one.
int64_t StepAt(int64_t size) {
  if (size <= kEachSizeUpTo) return 1;
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size - 1))) / 4;
}

}  // namespace

int64_t RoundUpSize(int64_t size) {
  const int64_t step = StepAt(size);
  return (size + step - 1) / step * step;
}

Sizes RoundedSizes(int64_t least, int64_t most) {
  Sizes sizes;
  for (int64_t size = RoundUpSize(least); size < most; size = RoundUpSize(size + 1))
    sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

SizeBucket BucketOf(int64_t size, const ListedSizes& listed) {
  const auto found = std::ranges::lower_bound(listed.sizes, size);
  if (found == listed.sizes.end()) {
    const int64_t rounded = RoundUpSize(size);
    return {rounded, rounded > kEachSizeUpTo};
  }
  // A graph of 2 has no two smaller sizes by which to tell how it depends on the size.
  if (*found <= 2) return {size, false};
  const int64_t before = found == listed.sizes.begin() ? 0 : *(found - 1);
  return {*found, *found - before > 1};
}

int64_t LeastOfBucket(int64_t size, const ListedSizes& listed) {
  const auto found = std::ranges::lower_bound(listed.sizes, size);
  const int64_t before = found == listed.sizes.begin() ? 0 : *(found - 1);
  if (found != listed.sizes.end()) return before + 1;
  return std::max(before, size - StepAt(size)) + 1;
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
