// The time of a kernel on a GPU, predicted by a formula. No constant was fitted to measured times.
// The prediction shows what limits a kernel, and roughly which of two kernels is faster.
//
//   time = launch + the greatest of
//     memory         bytes from and to memory, at its bandwidth
//     L2             bytes from and to L2, at 2.5 times that, and a processor's at 64 a clock
//     multiply-adds  operations of the processor that has most blocks, one a clock and lane
//     tensor cores   multiply-adds of the tiles that its warps execute, at the rate of their types
//     latency        both with too few warps to fill the lanes or the four tensor cores; or the
//                    sequential loads of one thread, and the copies that fill half of a block's
//                    shared storage together, once for each wave of blocks
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel/predict/occupancy.h"
#include "kernel/predict/phase_work.h"

namespace tunec {

/// The resource that limits a kernel's time.
enum class TimeBound : uint8_t { kMemory, kL2, kMultiplyAdds, kLatency, kLaunch, kTensorCores };
/// Returns "memory", "L2", "multiply-adds", "latency", "launch" or "tensor cores".
std::string_view Name(TimeBound bound);

struct PredictedTime {
  double seconds = 0;
  TimeBound bound = TimeBound::kLaunch;
};

/// Returns the time of all starts of one phase. Each operation of a thread counts as a float32
/// multiply-add. Tiles count in the same way if the device's rate for their types is unknown.
/// Returns nullopt if facts of the device are unknown or not even one block fits.
std::optional<PredictedTime> PredictTime(const PhaseWork& work, const PhaseLaunch& launch,
                                         const Accelerator& device);

/// Facts about a phase before its first run.
struct PredictedPhase {
  PhaseLaunch launch;
  PhaseWork work;
  std::optional<Occupancy> occupancy;
  int64_t waves = 0;  // waves of blocks in one start; 0 if the time is unknown
  std::optional<PredictedTime> time;
};

/// Returns the prediction of each phase of the image, which does this work. Errors: kParse if the
/// stored image has a different number of phases.
Result<std::vector<PredictedPhase>> PredictPhases(const std::vector<PhaseWork>& work,
                                                  const KernelImage& image,
                                                  const Accelerator& device);

/// Returns the time of a kernel: the sum over its phases. Errors: kResourceLimit if not even one
/// block of a phase fits. Requires: CheckPredicts, and phases whose registers are known.
Result<double> PredictSeconds(const std::vector<PredictedPhase>& phases);
/// Fails with kUnsupported if the device's facts do not suffice for predicting times.
Status CheckPredicts(const Accelerator& device);

}  // namespace tunec
