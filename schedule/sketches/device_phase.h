// A device's sketch, phase by phase: each is a reduction with what follows it, or another
// statement, and is done by one of the kinds that fit (cuda_phases.cc).
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
  std::optional<double> seconds = {};  // estimated of the initial values, if they are

  /// Adds the steps of the analytic choices.
  void WriteInitial(Schedule& schedule) const;
};

/// What a phase is sought for: the statements of `compute` alone (StatementsOf), the first of which
/// may be a reduction, which the others follow.
struct PhaseQuestion {
  const Compute& compute;
  const Accelerator& device;  // with all facts
  const RoundingFreedom& rounding;
};

/// Tiles of sums of products by matrix instructions (cuda_tensor.cc).
std::optional<DevicePhase> MakeCudaTensorPhase(const PhaseQuestion& question);

/// Tiles of convolutions by matrix instructions, where they are estimated to be faster than those
/// by threads (cuda_conv.cc).
std::optional<DevicePhase> MakeCudaConvPhase(const PhaseQuestion& question);

/// Register tiles of sums of products whose operands go through shared storage (cuda_tile.cc).
std::optional<DevicePhase> MakeCudaTilePhase(const PhaseQuestion& question);

/// Elements by themselves and what moves them, 16 bytes a thread (cuda_elements.cc).
std::optional<DevicePhase> MakeCudaElementsPhase(const PhaseQuestion& question);

/// The longest chain of terms that one thread reduces in order, unless a contract asks for the
/// order. The rounding error of a chain grows with its length.
inline constexpr int64_t kLongestChain = 4096;

/// Returns whether each result reduces more terms than kLongestChain, in any order.
bool HasLongChain(const Statement& statement);

/// Reductions with a long chain, in lanes (cuda_long_sum.cc).
std::optional<DevicePhase> MakeCudaLongSumPhase(const PhaseQuestion& question);

/// A thread an element, with all that is summed for it (blocks.cc).
std::optional<DevicePhase> MakeBlockPhase(const PhaseQuestion& question);

}  // namespace tunec
