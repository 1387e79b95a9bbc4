// What fusing is worth: bytes that are neither written nor read again and launches that are
// saved, against what is computed more than once.
#pragma once

#include "graph/group.h"

namespace tunec {

/// Of fusing `value` into one of its `users`: alone with it the value is never stored, among
/// several it is still written, but this user needs not read it.
FusionCost CostOfFusing(const Graph& graph, ValueId value, size_t users);

}  // namespace tunec
