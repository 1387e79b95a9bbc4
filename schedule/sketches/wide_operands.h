// The choice of the reduction's operands that are cast once beforehand instead of at each use.
#pragma once

#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketch.h"

namespace tunec {

/// A lowering to which `steps` have been applied. They cast operands of the first reduction. There
/// may be no steps.
struct WideLowering {
  NamedCompute lowering;
  std::vector<WidenStep> steps;
};

/// Returns the lowering after all `widen` steps that apply and pay, and the lowering without steps.
/// The more promising one is first. Returns only the lowering without steps if no step applies and
/// pays.
std::vector<WideLowering> WideLowerings(const NamedCompute& lowering);

}  // namespace tunec
