#include "schedule/sketches/warp_loops.h"

namespace tunec {

std::vector<int64_t> SharedOrder(int64_t groups, const std::vector<int64_t>& dimensions) {
  std::vector<int64_t> order;
  for (int64_t group = 0; group < groups; ++group) order.push_back(group);
  for (const int64_t dimension : dimensions) order.push_back(groups + dimension);
  return order;
}

void WarpLoops::Warps(const std::string& rows, const std::string& columns) {
  if (!rows.empty()) threads_.push_back({rows, LoopKind::kBlockZ});
  if (!columns.empty()) threads_.push_back({columns, LoopKind::kBlockY});
}

void WarpLoops::Lanes(const std::string& lanes) { threads_.push_back({lanes, LoopKind::kBlockX}); }

void WarpLoops::Bind(Schedule& schedule) const {
  for (const BindStep& thread : threads_) schedule.Add(thread);
}

}  // namespace tunec
