// The phases of a sketch for a device. Each phase computes a reduction with its followers, or one
// other statement. Several kinds of DevicePhase may fit a phase; cuda_phases.cc chooses one.
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
  /// Adds the steps for the values of the knobs. The function must be pure.
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

/// Returns a phase of tiles of sums of products, by matrix instructions (cuda_tensor.cc). This and
/// the functions below return nothing if such a phase does not fit the statements.
std::optional<DevicePhase> MakeCudaTensorPhase(const PhaseQuestion& question);

/// Returns a phase of tiles of a convolution, by matrix instructions, if it is estimated to be
/// faster than tiles by threads (cuda_conv.cc).
std::optional<DevicePhase> MakeCudaConvPhase(const PhaseQuestion& question);

/// Returns a phase of register tiles of a sum of products, whose operands are copied to shared
/// storage (cuda_tile.cc).
std::optional<DevicePhase> MakeCudaTilePhase(const PhaseQuestion& question);

/// Returns a phase of elementwise work, of data movement, or of a sum for each lane of a thread. A
/// thread reads or writes up to 16 consecutive bytes (cuda_elements.cc).
std::optional<DevicePhase> MakeCudaElementsPhase(const PhaseQuestion& question);

/// Longest chain of terms that one thread should reduce in order; a contract may require longer
/// chains. The rounding error of a chain grows with its length.
inline constexpr int64_t kLongestChain = 4096;

/// Checks that the statement is a reorderable reduction of one value without finalisation, with
/// more than kLongestChain terms for each result.
bool HasLongChain(const Statement& statement);

/// Returns a phase of a reduction with a long chain, which is split into lanes (cuda_long_sum.cc).
std::optional<DevicePhase> MakeCudaLongSumPhase(const PhaseQuestion& question);

/// Returns a phase with one thread per element; the thread computes the element's whole sum
/// (blocks.cc).
std::optional<DevicePhase> MakeBlockPhase(const PhaseQuestion& question);

}  // namespace tunec
