// Functions for the statements around a sum of products by matrix instructions. Earlier statements
// compute the operands. Later statements are rewritten so that they write only outputs.
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

/// Inlines all statements that write workspace, except for the first statement of the Compute. A
/// lane has no storage besides its sums. Returns nothing if a statement cannot be inlined.
std::optional<Rewritten> InlineFollowers(const Compute& compute);

/// The statements that compute operands. Statements on constants run at compile time, all others as
/// elementwise phases.
struct OperandPhases {
  std::vector<DevicePhase> phases;
  std::vector<std::string> constant;  // names of the statements that run at compile time
  double seconds = 0;                 // estimated time of the phases

  void Write(Schedule& schedule) const;
};

/// Returns the phases, and the names of constant statements, before the statement `end`. Returns
/// nothing if a statement that runs at run time fits no elementwise phase.
std::optional<OperandPhases> MakeOperandPhases(const Compute& compute, StatementId end,
                                               const PhaseQuestion& question);

}  // namespace tunec
