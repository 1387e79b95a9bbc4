// The phases of sketches for a device. Each phase computes a reduction, usually with its followers,
// or one other statement. If several kinds of DevicePhase fit, each sketch uses one of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

/// One phase of a sketch: its knobs, and a function to add the steps to a schedule.
struct DevicePhase {
  std::string kind;  // "cuda_tile"
  std::vector<Knob> knobs;
  /// Adds the steps for the values of the knobs. Equal values must add equal steps.
  std::function<void(const std::vector<int64_t>& values, Schedule& schedule)> write;
  std::optional<double> seconds = {};  // estimate for the knobs' initial values, if there is one

  /// Adds the steps for the initial values of the knobs.
  void WriteInitial(Schedule& schedule) const;
};

/// The input of the search for a phase. `compute` has only the statements of the phase
/// (StatementsOf). If the first statement is a reduction, the other statements are its followers.
struct PhaseQuestion {
  const Compute& compute;
  const Accelerator& device;  // no property is unknown (WithAllFacts)
  const RoundingFreedom& rounding;
};

/// Returns a phase of tiles of sums of products, by matrix instructions (cuda_tensor.cc). Like the
/// other Make functions, returns nothing if such a phase does not fit the statements.
std::optional<DevicePhase> MakeCudaTensorPhase(const PhaseQuestion& question);

/// Returns a phase of tiles of a convolution, by matrix instructions (cuda_conv.cc).
std::optional<DevicePhase> MakeCudaConvPhase(const PhaseQuestion& question);

/// Returns a phase of register tiles of a sum of products. Operands may be copied to shared storage
/// (cuda_tile.cc).
std::optional<DevicePhase> MakeCudaTilePhase(const PhaseQuestion& question);

/// Returns a phase of elementwise work, of data movement, or of a reduction whose results are the
/// lanes of vectors (cuda_elements.cc).
std::optional<DevicePhase> MakeCudaElementsPhase(const PhaseQuestion& question);

/// Longest chain of terms that one thread should reduce in order; a contract may require longer
/// chains. The rounding error of a chain grows with its length.
inline constexpr int64_t kLongestChain = 4096;

/// Returns whether the statement is a reorderable reduction of one value without finalisation. The
/// product of the reduced extents must also exceed kLongestChain.
bool HasLongChain(const Statement& statement);

/// Returns a phase that splits the chain of a reduction (HasLongChain) into lanes
/// (cuda_long_sum.cc).
std::optional<DevicePhase> MakeCudaLongSumPhase(const PhaseQuestion& question);

/// Returns a phase that assigns each independent element to one thread, without splitting a
/// reduction (blocks.cc).
std::optional<DevicePhase> MakeBlockPhase(const PhaseQuestion& question);

}  // namespace tunec
