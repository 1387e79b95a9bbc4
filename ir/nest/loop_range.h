// A function that bounds the values of a loop's variable.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Returns an interval that contains all values of the loop's variable. `variables` returns the
/// intervals of the variables in the loop's bounds, and may be omitted for constant bounds. If
/// the result is empty (lo > hi), the loop never runs.
Interval RangeOf(const Loop& loop, const IntervalOf& variables = {});

}  // namespace tunec
