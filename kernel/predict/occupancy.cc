#include "kernel/predict/occupancy.h"

#include <algorithm>
#include <array>

#include "ir/expr/index_expr.h"

namespace tunec {
namespace {

constexpr int64_t kRegisterUnit = 256;
constexpr int64_t kSystemSharedBytes = 1024;  // of each block, from compute capability 8.0 on

struct Bound {
  OccupancyLimit limit;
  int64_t blocks;
};

int64_t RegistersOfBlock(const PhaseLaunch& launch) {
  const int64_t of_warp =
      CeilDivide(kWarpThreads * launch.registers, kRegisterUnit) * kRegisterUnit;
  return WarpsOf(launch) * of_warp;
}

}  // namespace

std::string_view Name(OccupancyLimit limit) {
  constexpr std::array<std::string_view, 4> kNames = {"threads", "blocks", "registers", "shared"};
  return kNames.at(static_cast<size_t>(limit));
}

bool KnowsLimits(const Accelerator& device) {
  return device.registers > 0 && device.processor_shared_bytes > 0 && device.resident_threads > 0 &&
         device.resident_blocks > 0;
}

int64_t ThreadsOf(const PhaseLaunch& launch) {
  return launch.block[0] * launch.block[1] * launch.block[2];
}

int64_t WarpsOf(const PhaseLaunch& launch) { return CeilDivide(ThreadsOf(launch), kWarpThreads); }

std::optional<Occupancy> OccupancyOf(const PhaseLaunch& launch, const Accelerator& device) {
  if (launch.registers == 0 || !KnowsLimits(device)) return std::nullopt;
  const int64_t warp_threads = WarpsOf(launch) * kWarpThreads;
  const std::array bounds = {
      Bound{OccupancyLimit::kThreads, device.resident_threads / warp_threads},
      Bound{OccupancyLimit::kBlocks, device.resident_blocks},
      Bound{OccupancyLimit::kRegisters, device.registers / RegistersOfBlock(launch)},
      Bound{OccupancyLimit::kShared,
            device.processor_shared_bytes / (launch.shared_bytes + kSystemSharedBytes)}};
  const Bound& least = *std::ranges::min_element(bounds, {}, &Bound::blocks);
  return Occupancy{.blocks = least.blocks,
                   .share = static_cast<double>(least.blocks * warp_threads) /
                            static_cast<double>(device.resident_threads),
                   .limit = least.limit};
}

int64_t OccupancyWaves(const PhaseLaunch& launch, const Occupancy& occupancy,
                       const Accelerator& device) {
  return CeilDivide(launch.Blocks() / launch.waves, device.processors * occupancy.blocks);
}

}  // namespace tunec
