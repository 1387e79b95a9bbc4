// A device's sketch, phase by phase. Each phase is a reduction with its followers, or another
// statement. One of the kinds that fit computes it (cuda_phases.cc).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

/// The steps of one phase.
struct DevicePhase {
  std::string kind;  // "cuda_tile"
  std::vector<Knob> knobs;
  /// Adds the steps for the values of the knobs. Pure.
  std::function<void(const std::vector<int64_t>& values, Schedule& schedule)> write;
  std::optional<double> seconds = {};  // estimated time for the initial values, if estimated

  /// Adds the steps of the analytic choices.
  void WriteInitial(Schedule& schedule) const;
};

/// The input of the search for a phase. `compute` has only the phase's statements (StatementsOf).
/// The first statement may be a reduction, and the other statements are then its followers.
struct PhaseQuestion {
  const Compute& compute;
  const Accelerator& device;  // with all facts
  const RoundingFreedom& rounding;
};

/// Returns tiles of sums of products by matrix instructions (cuda_tensor.cc).
std::optional<DevicePhase> MakeCudaTensorPhase(const PhaseQuestion& question);

/// Returns tiles of convolutions by matrix instructions, if they are estimated to be faster than
/// tiles by threads (cuda_conv.cc).
std::optional<DevicePhase> MakeCudaConvPhase(const PhaseQuestion& question);

/// Returns register tiles of sums of products whose operands are copied to shared storage
/// (cuda_tile.cc).
std::optional<DevicePhase> MakeCudaTilePhase(const PhaseQuestion& question);

/// Returns elementwise work and data movement, 16 bytes per thread (cuda_elements.cc).
std::optional<DevicePhase> MakeCudaElementsPhase(const PhaseQuestion& question);

/// Longest chain of terms that one thread reduces in order, unless a contract requires the order.
/// The rounding error of a chain grows with its length.
inline constexpr int64_t kLongestChain = 4096;

/// Checks that each result reduces more terms than kLongestChain, in any order.
bool HasLongChain(const Statement& statement);

/// Returns reductions with a long chain, in lanes (cuda_long_sum.cc).
std::optional<DevicePhase> MakeCudaLongSumPhase(const PhaseQuestion& question);

/// Returns one thread per element, with all of its sum (blocks.cc).
std::optional<DevicePhase> MakeBlockPhase(const PhaseQuestion& question);

}  // namespace tunec
