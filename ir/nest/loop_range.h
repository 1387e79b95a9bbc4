// The values of a loop's variable.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Returns an interval that contains all values of the loop's variable. `variables` gives the
/// intervals of the variables in its bounds; it may be omitted for constant bounds. The interval is
/// empty (lo > hi) if the loop never runs.
Interval RangeOf(const Loop& loop, const IntervalOf& variables = {});

}  // namespace tunec
