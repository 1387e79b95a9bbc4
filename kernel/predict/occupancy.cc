#include "kernel/predict/occupancy.h"

#include "ir/expr/index_expr.h"
#include "ir/loop_nest.h"

namespace tunec {

int64_t ThreadsOf(const PhaseLaunch& launch) {
  return launch.block[0] * launch.block[1] * launch.block[2];
}

int64_t WarpsOf(const PhaseLaunch& launch) { return CeilDivide(ThreadsOf(launch), kWarpThreads); }

std::optional<Occupancy> OccupancyOf(const PhaseLaunch& launch, const Accelerator& device) {
  if (launch.registers == 0 || !HasKnownLimits(device)) return std::nullopt;
  return OccupancyOf(BlockUse{.threads = ThreadsOf(launch),
                              .registers = launch.registers,
                              .shared_bytes = launch.shared_bytes},
                     device);
}

int64_t OccupancyWaves(const PhaseLaunch& launch, const Occupancy& occupancy,
                       const Accelerator& device) {
  return CeilDivide(launch.Blocks() / launch.waves, device.processors * occupancy.blocks);
}

}  // namespace tunec
