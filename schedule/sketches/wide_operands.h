// The choice of the reduction's operands that are cast once beforehand instead of at each use.
#pragma once

#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketch.h"

namespace tunec {

/// A lowering, and the steps that already cast operands of its reduction. There may be no steps.
struct WideLowering {
  NamedCompute lowering;
  std::vector<WidenStep> steps;
};

/// Returns the lowering in which all operands are cast for which a separate cast pays, and the
/// lowering without steps. The more promising one is first. Returns only the lowering without steps
/// if no operand is cast.
std::vector<WideLowering> WideLowerings(const NamedCompute& lowering);

}  // namespace tunec
