#include "graph/lower/regions.h"

#include <algorithm>

namespace tunec::lower {
namespace {

Expr SelectFrom(StatementBuilder& builder, std::span<const Region> regions,
                const std::function<Expr(const IndexExpr&)>& read) {
  const Region& region = regions.front();
  Expr value = builder.EvaluateGuarded(region.inside, 0, [&] { return read(region.at); });
  std::vector<IndexExpr> failing;
  for (const IndexExpr& condition : region.inside)
    if (builder.CanFail(condition)) failing.push_back(condition);
  if (failing.empty() || regions.size() == 1) return value;
  const Expr rest = SelectFrom(builder, regions.subspan(1), read);
  return Expr::Select(Expr::Holds(std::move(failing)), value, rest);
}

}  // namespace

Expr SelectRegion(StatementBuilder& builder, const std::vector<Region>& regions,
                  const std::function<Expr(const IndexExpr&)>& read) {
  std::vector<Region> possible;
  for (const Region& region : regions) {
    const auto never = [&](const IndexExpr& e) { return builder.Bounds(e).hi < 0; };
    if (!std::ranges::any_of(region.inside, never)) possible.push_back(region);
  }
  if (possible.empty()) possible.push_back(regions.front());  // no point exists
  return SelectFrom(builder, possible, read);
}

std::vector<Region> ClampedRegions(const IndexExpr& position, int64_t extent) {
  return {{.inside = {position, IndexExpr(extent - 1) - position}, .at = position},
          {.inside = {IndexExpr(-1) - position}, .at = 0},
          {.inside = {position - extent}, .at = extent - 1}};
}

}  // namespace tunec::lower
