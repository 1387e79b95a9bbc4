// Which operands a reduction should have cast beforehand, rather than at each use.
#pragma once

#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketch.h"

namespace tunec {

/// A lowering with operands of its reduction widened, and the steps that do it.
struct WideLowering {
  NamedCompute lowering;
  std::vector<WidenStep> steps;
};

/// The ways that are worth a sketch, the most promising first. One, without steps, where no operand
/// is cast.
std::vector<WideLowering> WideLowerings(const NamedCompute& lowering);

}  // namespace tunec
