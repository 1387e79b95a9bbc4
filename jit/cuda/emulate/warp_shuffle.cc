#include "jit/cuda/emulate/warp_shuffle.h"

#include <fmt/format.h>

#include <vector>

namespace tunec {
namespace {

std::string PlaceOf(const WarpShuffle& lane) {
  return lane.site == 0 ? "in none" : fmt::format("in shuffle {}", lane.site);
}

}  // namespace

std::string WhyDivergent(std::span<const WarpShuffle> lanes) {
  const WarpShuffle& first = lanes.front();
  const auto all = static_cast<uint32_t>((uint64_t{1} << lanes.size()) - 1);
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const WarpShuffle& other = lanes[lane];
    if (other.site != first.site) {
      return fmt::format("lane {} is {}, but lane 0 {}: a shuffle is for the whole warp", lane,
                         PlaceOf(other), PlaceOf(first));
    }
    if (other.site == 0) continue;
    if (other.members != all) {
      return fmt::format("lane {} waits for the lanes {:#x} in shuffle {}, the warp has {:#x}",
                         lane, other.members, other.site, all);
    }
    if ((lane ^ other.distance) >= lanes.size()) {
      return fmt::format("lane {} reads lane {} in shuffle {}, which the warp has not", lane,
                         lane ^ other.distance, other.site);
    }
  }
  return {};
}

void Exchange(std::span<WarpShuffle> lanes) {
  const std::vector<WarpShuffle> before(lanes.begin(), lanes.end());
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    if (before[lane].site != 0) lanes[lane].value = before[lane ^ before[lane].distance].value;
  }
}

}  // namespace tunec
