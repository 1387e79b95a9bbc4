// What comes before and after a sum of products that matrix instructions multiply: statements that
// make its operands, and one statement for each output behind it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/schedule.h"
#include "schedule/sketches/device_phase.h"

namespace tunec {

/// A Compute, and the steps that made it what it is.
struct Rewritten {
  Compute compute;
  std::vector<ComputeStep> steps;
};

/// Without workspace between the first statement and the outputs: a lane has no storage but its
/// sums. None where a statement can't be inlined.
std::optional<Rewritten> InlineFollowers(const Compute& compute);

/// The statements that make operands: phases by threads, and what is done when compiling.
struct OperandPhases {
  std::vector<DevicePhase> phases;
  std::vector<std::string> constant;  // statements
  double seconds = 0;                 // estimated of the phases

  void Write(Schedule& schedule) const;
};

/// Of the statements before `end`. None where no phase fits one of them.
std::optional<OperandPhases> MakeOperandPhases(const Compute& compute, StatementId end,
                                               const PhaseQuestion& question);

}  // namespace tunec
