// Reads that differ from region to region of the index space.
#pragma once

#include <functional>
#include <vector>

#include "graph/lower/statement_builder.h"

namespace tunec::lower {

/// Where all conditions are >= 0 the position along an axis is `at`.
struct Region {
  std::vector<IndexExpr> inside;
  IndexExpr at;
};

/// `read(at)` of the first region that holds, its reads guarded. The regions cover all points;
/// those that intervals rule out are left out.
Expr SelectRegion(StatementBuilder& builder, const std::vector<Region>& regions,
                  const std::function<Expr(const IndexExpr&)>& read);

/// The position clamped to [0, extent): three regions, fewer where intervals tell.
std::vector<Region> ClampedRegions(const IndexExpr& position, int64_t extent);

}  // namespace tunec::lower
