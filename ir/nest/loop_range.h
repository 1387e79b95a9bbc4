// What a loop's variable can be.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// All values that it has where other variables lie in `variables`, or some more; lo > hi where the
/// loop never runs. Requires: constant bounds, or `variables`.
Interval RangeOf(const Loop& loop, const IntervalOf& variables = {});

}  // namespace tunec
