#include "kernel/predict/predict_time.h"

#include <algorithm>
#include <array>

namespace tunec {
namespace {

// Rough assumptions about all GPUs.
constexpr double kLaunchSeconds = 2e-6;  // launch of a kernel within a captured graph
constexpr double kL2Share = 2.5;         // ratio of L2's bandwidth to memory's
constexpr double kProcessorBytes = 64;   // bytes between one processor and L2 per clock
constexpr double kOperationClocks = 4;   // latency until a result can be an operand
constexpr double kLoadClocks = 300;      // latency of an element from L2
constexpr double kLoadsInFlight = 4;     // loads in flight of one thread
constexpr double kCopiedShare = 0.5;     // share of shared storage being filled; the rest is read
constexpr double kTensorCores = 4;       // tensor cores of a processor, each fed by its own warps

struct BoundSeconds {
  TimeBound bound = TimeBound::kLaunch;
  double seconds = 0;
};

// The blocks, warps and waves of blocks in one start of a phase. A phase starts launch.waves times.
struct PhaseStart {
  double blocks = 0;
  double most_blocks = 0;  // most blocks of one processor
  double warps = 0;        // warps that one processor runs at once
  double waves = 0;
};

PhaseStart StartOf(const PhaseLaunch& launch, const Occupancy& occupancy,
                   const Accelerator& device) {
  const int64_t blocks = launch.Blocks() / launch.waves;
  const int64_t most = CeilDivide(blocks, device.processors);
  return {.blocks = static_cast<double>(blocks),
          .most_blocks = static_cast<double>(most),
          .warps = static_cast<double>(std::min(occupancy.blocks, most) * WarpsOf(launch)),
          .waves = static_cast<double>(OccupancyWaves(launch, occupancy, device))};
}

// Returns the time in which the processor with most blocks issues its operations. `operations` is
// the number for one block. A warp with fewer than 32 threads takes as long as a full warp.
BoundSeconds Issue(double operations, const PhaseStart& start, const PhaseLaunch& launch,
                   const Accelerator& device) {
  const double idle =
      static_cast<double>(WarpsOf(launch) * kWarpThreads) / static_cast<double>(ThreadsOf(launch));
  const auto lanes = static_cast<double>(device.multiply_adds);
  const double fed = start.warps * kWarpThreads / kOperationClocks;
  const double a_second = std::min(lanes, fed) * static_cast<double>(device.clock_hertz);
  return {fed < lanes ? TimeBound::kLatency : TimeBound::kMultiplyAdds,
          start.most_blocks * operations * idle / a_second};
}

// Returns the time of the tiles of one start. `work` is the work of `blocks` blocks. One warp keeps
// one tensor core busy.
BoundSeconds Tiles(const PhaseWork& work, double blocks, const PhaseStart& start,
                   const Accelerator& device) {
  const auto clocks = [&](double products, int64_t rate) {
    return products / static_cast<double>(rate > 0 ? rate : device.multiply_adds);
  };
  const double of_block =
      (clocks(work.matrix_f16, device.matrix_f16) + clocks(work.matrix_tf32, device.matrix_tf32) +
       clocks(work.matrix_i8, device.matrix_i8)) /
      blocks;
  const double busy = std::min(1.0, start.warps / kTensorCores);
  return {busy < 1 ? TimeBound::kLatency : TimeBound::kTensorCores,
          start.most_blocks * of_block / (busy * static_cast<double>(device.clock_hertz))};
}

// Returns the time to move `bytes` of one start through L2.
BoundSeconds L2(double bytes, const PhaseStart& start, const Accelerator& device) {
  const double of_all = bytes / (kL2Share * static_cast<double>(device.bytes_per_second));
  const double of_one = start.most_blocks * bytes / start.blocks /
                        (kProcessorBytes * static_cast<double>(device.clock_hertz));
  return {TimeBound::kL2, std::max(of_all, of_one)};
}

// Returns the number of sequential waits for L2 in one block.
double WaitsOf(const PhaseWork& work, const PhaseLaunch& launch) {
  const auto blocks = static_cast<double>(launch.Blocks());
  const auto threads = blocks * static_cast<double>(ThreadsOf(launch));
  const double loads = work.loads / threads / kLoadsInFlight;
  if (work.copied_bytes == 0) return loads;
  const double in_flight = kCopiedShare * static_cast<double>(launch.shared_bytes);
  return loads + std::max(1.0, work.copied_bytes / blocks / in_flight);
}

bool HasKnownRates(const Accelerator& device) {
  return device.multiply_adds > 0 && device.bytes_per_second > 0 && device.clock_hertz > 0;
}

}  // namespace

std::string_view Name(TimeBound bound) {
  constexpr std::array<std::string_view, 6> kNames = {"memory",  "L2",     "multiply-adds",
                                                      "latency", "launch", "tensor cores"};
  return kNames.at(static_cast<size_t>(bound));
}

std::optional<PredictedTime> PredictTime(const PhaseWork& work, const PhaseLaunch& launch,
                                         const Accelerator& device) {
  const std::optional<Occupancy> occupancy = OccupancyOf(launch, device);
  if (!occupancy || occupancy->blocks == 0 || !HasKnownRates(device)) return std::nullopt;
  if (launch.Blocks() == 0) return PredictedTime{};
  const PhaseStart start = StartOf(launch, *occupancy, device);
  const auto starts = static_cast<double>(launch.waves);
  const auto blocks = static_cast<double>(launch.Blocks());
  const auto threads = blocks * static_cast<double>(ThreadsOf(launch));
  // Spilled bytes are stored once and loaded once, at least.
  const double spilled = 2 * static_cast<double>(launch.spilled_bytes) * threads;
  const std::array parts = {
      BoundSeconds{TimeBound::kMemory,
                   work.memory_bytes / starts / static_cast<double>(device.bytes_per_second)},
      L2((work.l2_bytes + spilled) / starts, start, device),
      Issue(work.operations / blocks, start, launch, device), Tiles(work, blocks, start, device),
      BoundSeconds{TimeBound::kLatency, start.waves * WaitsOf(work, launch) * kLoadClocks /
                                            static_cast<double>(device.clock_hertz)}};
  const BoundSeconds& longest = *std::ranges::max_element(parts, {}, &BoundSeconds::seconds);
  return PredictedTime{
      .seconds = starts * (kLaunchSeconds + longest.seconds),
      .bound = longest.seconds < kLaunchSeconds ? TimeBound::kLaunch : longest.bound};
}

Result<std::vector<PredictedPhase>> PredictPhases(const std::vector<PhaseWork>& works,
                                                  const KernelImage& image,
                                                  const Accelerator& device) {
  if (works.size() != image.phases.size()) {
    return Fail(ErrorCode::kParse, "the work of {} phases is known, the object code has {}",
                works.size(), image.phases.size());
  }
  std::vector<PredictedPhase> phases;
  for (size_t p = 0; p < works.size(); ++p) {
    const PhaseLaunch& launch = image.phases[p];
    PredictedPhase phase{.launch = launch,
                         .work = works[p],
                         .occupancy = OccupancyOf(launch, device),
                         .time = PredictTime(works[p], launch, device)};
    if (phase.time) phase.waves = OccupancyWaves(launch, *phase.occupancy, device);
    phases.push_back(phase);
  }
  return phases;
}

Result<double> PredictSeconds(const std::vector<PredictedPhase>& phases) {
  double seconds = 0;
  for (const PredictedPhase& phase : phases) {
    if (!phase.time) {
      return Fail(ErrorCode::kResourceLimit, "a block of {} does not fit a processor: {}",
                  phase.launch.symbol,
                  phase.occupancy ? Name(phase.occupancy->limit) : "registers are not known");
    }
    seconds += phase.time->seconds;
  }
  return seconds;
}

Status CheckPredicts(const Accelerator& device) {
  if (HasKnownLimits(device) && HasKnownRates(device)) return {};
  return Fail(ErrorCode::kUnsupported, "no times are predicted: no GPU of {} is known",
              device.name);
}

}  // namespace tunec
