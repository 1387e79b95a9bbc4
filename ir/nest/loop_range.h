// The values of a loop's variable.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Returns an interval that contains all values of the loop's variable if the other variables are
/// in `variables`. lo > hi if the loop never runs. Requires: constant bounds, or `variables`.
Interval RangeOf(const Loop& loop, const IntervalOf& variables = {});

}  // namespace tunec
