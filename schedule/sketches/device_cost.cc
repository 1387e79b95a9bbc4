#include "schedule/sketches/device_cost.h"

#include <algorithm>
#include <limits>

#include "ir/expr/index_expr.h"
#include "ir/loop_nest.h"

namespace tunec {
namespace {

constexpr double kLaunchSeconds = 2e-6;
constexpr double kL2Share = 2.5;        // ratio of L2's bandwidth to the memory's
constexpr double kProcessorBytes = 64;  // bytes between a processor and L2, per clock
constexpr double kOperationClocks = 4;  // clocks until a result can be an operand

template <class Number>
void Assume(Number& fact, Number value) {
  if (fact == 0) fact = value;
}

}  // namespace

Accelerator WithAllFacts(const Accelerator& device) {
  Accelerator known = device;
  // If the part is unknown, `processors` is only the default, 1.
  if (known.bytes_per_second == 0) known.processors = std::max(known.processors, 100);
  Assume<int64_t>(known.shared_bytes, 48 << 10);
  Assume<int64_t>(known.registers, 65536);
  Assume<int64_t>(known.processor_shared_bytes, 100 << 10);
  Assume<int64_t>(known.resident_threads, 1536);
  Assume<int64_t>(known.resident_blocks, 16);
  Assume<int64_t>(known.multiply_adds, 128);
  Assume<int64_t>(known.matrix_f16, 8 * known.multiply_adds);
  Assume<int64_t>(known.matrix_tf32, 4 * known.multiply_adds);
  Assume<int64_t>(known.matrix_i8, 16 * known.multiply_adds);
  Assume<int64_t>(known.l2_bytes, 32 << 20);
  Assume<int64_t>(known.bytes_per_second, int64_t{1000} * 1000 * 1000 * 1000);
  Assume<int64_t>(known.clock_hertz, int64_t{1500} * 1000 * 1000);
  return known;
}

double EstimateSeconds(const PhaseCost& cost, const Accelerator& device) {
  const int64_t resident = OccupancyOf(cost.use, device).blocks;
  if (resident == 0 || cost.use.shared_bytes > device.shared_bytes)
    return std::numeric_limits<double>::infinity();
  const int64_t most_blocks = CeilDivide(cost.blocks, device.processors);
  const auto most = static_cast<double>(most_blocks);
  const auto clock = static_cast<double>(device.clock_hertz);
  const auto bandwidth = static_cast<double>(device.bytes_per_second);
  // Too few threads leave a processor's units idle.
  const double threads = static_cast<double>(std::min(resident, most_blocks) * cost.use.threads);
  const double busy = cost.busy_threads > 0
                          ? static_cast<double>(cost.busy_threads)
                          : static_cast<double>(device.multiply_adds) * kOperationClocks;
  const double idle = std::max(1.0, busy / std::max(threads, 1.0));
  const double issue = most * cost.clocks * idle / clock;
  const double l2 =
      std::max(static_cast<double>(cost.blocks) * cost.l2_bytes / kL2Share / bandwidth,
               most * cost.l2_bytes / kProcessorBytes / clock);
  const double memory = cost.memory_bytes / bandwidth;
  // The three times overlap, but not completely. Of two costs with equal maxima, the one with the
  // smaller sum is less.
  constexpr double kSeen = 0.05;
  return kLaunchSeconds + std::max({issue, l2, memory}) + kSeen * (issue + l2 + memory);
}

double EstimateWarpSeconds(PhaseCost cost, const Accelerator& device,
                           const std::function<double(int64_t resident)>& clocks) {
  const int64_t resident =
      std::min(OccupancyOf(cost.use, device).blocks, CeilDivide(cost.blocks, device.processors));
  if (resident == 0) return std::numeric_limits<double>::infinity();
  cost.busy_threads = 8 * kWarpThreads;
  cost.clocks = clocks(resident);
  return EstimateSeconds(cost, device);
}

double WaitClocks(int64_t resident) {
  constexpr double kMemoryClocks = 700;
  return kMemoryClocks / static_cast<double>(resident);
}

double PiecesClocks(double pieces, double clocks, double ahead, int64_t resident) {
  const double wait = WaitClocks(resident);
  return pieces * (ahead == 0 ? clocks + wait : std::max(clocks, wait / ahead));
}

}  // namespace tunec
