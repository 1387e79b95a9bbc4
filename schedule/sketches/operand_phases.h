// Functions for the statements around a sum of products by matrix instructions. Earlier statements
// compute the operands, and one later statement computes each output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/schedule.h"
#include "schedule/sketches/device_phase.h"

namespace tunec {

/// A rewritten Compute, and the compute steps that made it from the original.
struct Rewritten {
  Compute compute;
  std::vector<ComputeStep> steps;
};

/// Inlines all statements after the first that write workspace, because a lane has no storage
/// besides its sums. Returns nothing if a statement cannot be inlined.
std::optional<Rewritten> InlineFollowers(const Compute& compute);

/// The statements that compute operands. Constants are computed at compile time, all other operands
/// by phases of threads.
struct OperandPhases {
  std::vector<DevicePhase> phases;
  std::vector<std::string> constant;  // names of the statements that run at compile time
  double seconds = 0;                 // estimated time of the phases

  void Write(Schedule& schedule) const;
};

/// Returns the phases and the constants of the statements before `end`. Returns nothing if no
/// elementwise phase fits one of the statements that run at run time.
std::optional<OperandPhases> MakeOperandPhases(const Compute& compute, StatementId end,
                                               const PhaseQuestion& question);

}  // namespace tunec
