#include "ir/occupancy.h"

#include <algorithm>
#include <array>

#include "ir/expr/index_expr.h"
#include "ir/loop_nest.h"

namespace tunec {
namespace {

constexpr int64_t kRegisterUnit = 256;
constexpr int64_t kSystemSharedBytes = 1024;  // reserved per block, from compute capability 8.0 on

struct Bound {
  OccupancyLimit limit;
  int64_t blocks;
};

}  // namespace

std::string_view Name(OccupancyLimit limit) {
  constexpr std::array<std::string_view, 4> kNames = {"threads", "blocks", "registers", "shared"};
  return kNames.at(static_cast<size_t>(limit));
}

bool HasKnownLimits(const Accelerator& device) {
  return device.registers > 0 && device.processor_shared_bytes > 0 && device.resident_threads > 0 &&
         device.resident_blocks > 0;
}

Occupancy OccupancyOf(const BlockUse& use, const Accelerator& device) {
  const int64_t warps = CeilDivide(use.threads, kWarpThreads);
  const int64_t warp_threads = warps * kWarpThreads;
  const int64_t registers_of_warp =
      CeilDivide(kWarpThreads * use.registers, kRegisterUnit) * kRegisterUnit;
  const std::array bounds = {
      Bound{OccupancyLimit::kThreads, device.resident_threads / warp_threads},
      Bound{OccupancyLimit::kBlocks, device.resident_blocks},
      Bound{OccupancyLimit::kRegisters, device.registers / (warps * registers_of_warp)},
      Bound{OccupancyLimit::kShared,
            device.processor_shared_bytes / (use.shared_bytes + kSystemSharedBytes)}};
  const Bound& least = *std::ranges::min_element(bounds, {}, &Bound::blocks);
  return {.blocks = least.blocks,
          .share = static_cast<double>(least.blocks * warp_threads) /
                   static_cast<double>(device.resident_threads),
          .limit = least.limit};
}

}  // namespace tunec
