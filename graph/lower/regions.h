// Functions for reads of an axis at positions that differ between regions of the index space.
#pragma once

#include <functional>
#include <vector>

#include "graph/lower/statement_builder.h"

namespace tunec::lower {

/// A region of the index space: the points where all expressions of `inside` are >= 0. There the
/// read is at position `at` of an axis.
struct Region {
  std::vector<IndexExpr> inside;
  IndexExpr at;
};

/// Returns `read(at)` of the first region whose conditions hold, with guarded reads. The regions
/// must cover all points. Regions without points, by the intervals of the iterators, are left out.
Expr SelectRegion(StatementBuilder& builder, const std::vector<Region>& regions,
                  const std::function<Expr(const IndexExpr&)>& read);

/// Returns the position clamped to [0, extent) as three regions: inside, before and after.
std::vector<Region> ClampedRegions(const IndexExpr& position, int64_t extent);

}  // namespace tunec::lower
