// For which sizes there is code.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sized/size_formula.h"

namespace tunec {

inline constexpr int64_t kEachSizeUpTo = 8;
/// The sizes that are compiled for, of one dimension. Up to 8 each; beyond, four in each doubling,
/// each about a fifth more than the one before: at most 17.4 % of a run are in vain.
int64_t RoundUpSize(int64_t size);
/// All of these that sizes from `least` to `most` are rounded up to, `most` in the place of a
/// larger one. Requires: 1 <= least <= most.
Sizes RoundedSizes(int64_t least, int64_t most);

/// The sizes of one dimension that code was asked for.
struct ListedSizes {
  Sizes sizes;        // ascending; none: those of RoundUpSize, as runs want them
  bool exact = true;  // they have code of their own; else only such as serves smaller sizes, too
  bool operator==(const ListedSizes&) const = default;
};

/// The size that a size is rounded up to, and whether smaller ones are, too.
struct SizeBucket {
  int64_t size = 0;
  bool is_shared = false;
};
/// Among the listed sizes; beyond them RoundUpSize.
SizeBucket BucketOf(int64_t size, const ListedSizes& listed);
/// The least size that is rounded up to a bucket's. Requires: BucketOf gives this size for some.
int64_t LeastOfBucket(int64_t size, const ListedSizes& listed);

/// Parts of a size along which a run may be cut: from the largest of the sizes down, the last one
/// rounded up.
Sizes CutSize(int64_t size, const Sizes& parts);

}  // namespace tunec
