#include "ir/nest/loop_range.h"

#include <algorithm>

namespace tunec {

Interval RangeOf(const Loop& loop, const IntervalOf& variables) {
  Interval range{-kUnbounded, kUnbounded};
  for (const IndexExpr& bound : loop.lower)
    range.lo = std::max(range.lo, BoundsOf(bound, variables).lo);
  for (const IndexExpr& bound : loop.upper)
    range.hi = std::min(range.hi, BoundsOf(bound, variables).hi - 1);
  return range;
}

}  // namespace tunec
