// The time of a kernel on a GPU, predicted by a formula. No time here was measured, and no constant
// was fitted to one: it tells what a kernel is bound by and roughly which of two is faster.
//
//   time = launch + the greatest of
//     memory         bytes from and to memory, at its bandwidth
//     L2             bytes from and to L2, at 2.5 times that, and a processor's at 64 a clock
//     multiply-adds  operations of the processor that has most blocks, one a clock and lane
//     tensor cores   multiply-adds of the tiles that its warps execute, at the rate of their types
//     latency        both with too few warps: to fill the lanes, or for the four tensor cores; or
//                    the loads that one thread does one after the other, and the copies that fill
//                    half of a block's shared storage together, once for each wave of blocks
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel/predict/occupancy.h"
#include "kernel/predict/phase_work.h"

namespace tunec {

/// What takes most of the time.
enum class TimeBound : uint8_t { kMemory, kL2, kMultiplyAdds, kLatency, kLaunch, kTensorCores };
/// "memory", "L2", "multiply-adds", "latency", "launch", "tensor cores".
std::string_view Name(TimeBound bound);

struct PredictedTime {
  double seconds = 0;
  TimeBound bound = TimeBound::kLaunch;
};

/// Of one phase, all its starts. Every operation of a thread is taken to be as fast as float32's
/// multiply-add; so are those of tiles, where the device's rate of them is not known. None where
/// facts of the device are not known, or not even one block fits.
std::optional<PredictedTime> PredictTime(const PhaseWork& work, const PhaseLaunch& launch,
                                         const Accelerator& device);

/// What is known of a phase before it ever ran.
struct PredictedPhase {
  PhaseLaunch launch;
  PhaseWork work;
  std::optional<Occupancy> occupancy;
  int64_t waves = 0;  // of blocks in one start; 0 without a time
  std::optional<PredictedTime> time;
};

/// One for each phase of the image, which does this work. kParse where a stored image has others.
Result<std::vector<PredictedPhase>> PredictPhases(const std::vector<PhaseWork>& work,
                                                  const KernelImage& image,
                                                  const Accelerator& device);

/// The time of a kernel: that of all its phases, one after the other. kResourceLimit where not even
/// one block of a phase fits. Requires: CheckPredicts, and phases whose registers are known.
Result<double> PredictSeconds(const std::vector<PredictedPhase>& phases);
/// kUnsupported for a device whose facts do not suffice for times.
Status CheckPredicts(const Accelerator& device);

}  // namespace tunec
