#include "graph/passes/image_order.h"

#include <utility>

namespace tunec {

Layout MakeLayout(ImageOrder order, const std::vector<int64_t>& shape, int64_t lanes) {
  Layout layout;
  if (order == ImageOrder::kChannelsFirst) return layout;
  const IndexExpr channel = IndexExpr::Var(DimensionVar(1));
  const auto append = [&](int64_t size, IndexExpr index) {
    layout.shape.push_back(size);
    layout.map.push_back(std::move(index));
  };
  append(shape[0], IndexExpr::Var(DimensionVar(0)));
  if (order == ImageOrder::kBlocked) {
    append(CeilDivide(shape[1], lanes), IndexExpr::FloorDiv(channel, lanes));
  }
  for (size_t d = 2; d < shape.size(); ++d) append(shape[d], IndexExpr::Var(DimensionVar(d)));
  if (order == ImageOrder::kBlocked) {
    append(lanes, IndexExpr::Mod(channel, lanes));
  } else {
    append(shape[1], channel);
  }
  return layout;
}

}  // namespace tunec
