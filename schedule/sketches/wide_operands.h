// The choice of a reduction's operands that are cast beforehand instead of at each use.
#pragma once

#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketch.h"

namespace tunec {

/// A lowering whose reduction has widened operands, with the steps for this.
struct WideLowering {
  NamedCompute lowering;
  std::vector<WidenStep> steps;
};

/// Returns the useful combinations, the most promising first. Returns one without steps if no
/// operand is cast.
std::vector<WideLowering> WideLowerings(const NamedCompute& lowering);

}  // namespace tunec
