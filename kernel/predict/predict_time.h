// The time of a kernel on a GPU, predicted by a formula. No constant was fitted to measured times.
// The prediction shows what limits a kernel, and roughly which of two kernels is faster.
//
//   time of one start = launch + the greatest of
//     memory         bytes from and to memory, at its bandwidth
//     L2             bytes from and to L2, at 2.5 times the bandwidth of memory; for the processor
//                    with most blocks, at 64 bytes per clock
//     multiply-adds  operations of the processor with most blocks, one per clock and lane
//     tensor cores   multiply-adds of the tiles that warps execute, at the rate of their types
//     latency        the two times above, which are longer with too few warps for the lanes or the
//                    four tensor cores; or the waits of one block, times the waves of blocks. A
//                    block waits once for every four loads of a thread, and each time that copies
//                    fill half of its shared storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel/predict/occupancy.h"
#include "kernel/predict/phase_work.h"

namespace tunec {

/// The greatest term of the formula above for a phase.
enum class TimeBound : uint8_t { kMemory, kL2, kMultiplyAdds, kLatency, kLaunch, kTensorCores };
/// Returns "memory", "L2", "multiply-adds", "latency", "launch" or "tensor cores".
std::string_view Name(TimeBound bound);

struct PredictedTime {
  double seconds = 0;
  TimeBound bound = TimeBound::kLaunch;
};

/// Returns the time of all starts of one phase. Each operation of a thread counts as a float32
/// multiply-add. Multiply-adds of tiles have the rate of float32 if the device's rate for their
/// types is unknown. Returns nullopt if the code's registers or properties of the device are
/// unknown, or if not even one block fits.
std::optional<PredictedTime> PredictTime(const PhaseWork& work, const PhaseLaunch& launch,
                                         const Accelerator& device);

/// The prediction of a phase, and the data for the prediction.
struct PredictedPhase {
  PhaseLaunch launch;
  PhaseWork work;
  std::optional<Occupancy> occupancy;
  int64_t waves = 0;  // waves of blocks in one start; 0 if no time is predicted
  std::optional<PredictedTime> time;
};

/// Returns the prediction of each phase of the image. `work` has the work of each phase. Fails with
/// kParse if the image has a different number of phases.
Result<std::vector<PredictedPhase>> PredictPhases(const std::vector<PhaseWork>& work,
                                                  const KernelImage& image,
                                                  const Accelerator& device);

/// Returns the time of a kernel, which is the sum over its phases. Fails with kResourceLimit if a
/// phase has no predicted time: not even one block fits, or the phase's registers are unknown.
/// CheckPredicts must accept the device.
Result<double> PredictSeconds(const std::vector<PredictedPhase>& phases);
/// Fails with kUnsupported if a property of the device that the predictions need is unknown.
Status CheckPredicts(const Accelerator& device);

}  // namespace tunec
