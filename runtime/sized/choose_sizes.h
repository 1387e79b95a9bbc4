// Choice of the sizes for which code is compiled, and assignment of a run's sizes to them.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/size/size_program.h"

namespace tunec {

inline constexpr int64_t kEachSizeUpTo = 8;
/// Returns the size to which `size` is rounded up if no listed size is large enough. Sizes up to 8
/// do not change. Above 8 there are four sizes per doubling, each about a fifth larger than the one
/// before. So at most 17.4 % of the returned size is padding.
int64_t RoundUpSize(int64_t size);
/// Returns all multiples of `step` to which the sizes from `least` to `most` are rounded up. The
/// last one is the greatest multiple up to `most`, even if RoundUpSize gives a larger size.
/// Requires: 1 <= least <= most, and there is such a multiple.
Sizes RoundedSizes(int64_t least, int64_t most, int64_t step = 1);

/// The sizes of one dimension for which code is requested.
struct ListedSizes {
  Sizes sizes;  // ascending; empty: each run uses the size of RoundUpSize
  /// True if exact code is requested for the listed sizes. False if code that also serves smaller
  /// sizes is sufficient.
  bool exact = true;
  int64_t step = 1;  // a size that is not listed is rounded up to a multiple of `step`
  bool operator==(const ListedSizes&) const = default;
};

/// A rounded size. `is_shared` is false if no smaller size is rounded up to this size.
struct SizeBucket {
  int64_t size = 0;
  bool is_shared = false;
};
/// Returns the bucket of a size: the least listed size that is not smaller, but the size itself if
/// that listed size is at most 2. A size above all listed sizes is rounded up to about
/// RoundUpSize, but to a multiple of the step.
SizeBucket BucketOf(int64_t size, const ListedSizes& listed);
/// Returns the least size that is rounded up to a bucket's size; for 2 possibly 1, although 1 has a
/// separate bucket. Requires: BucketOf returns the bucket's size for some size.
int64_t LeastOfBucket(int64_t size, const ListedSizes& listed);

/// Splits a size into micro-batches: takes each of `parts` as often as possible, the largest first.
/// A remainder is rounded up to the smallest part.
Sizes CutSize(int64_t size, const Sizes& parts);

}  // namespace tunec
