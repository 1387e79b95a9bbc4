// Constants for comparisons in a padded graph. Internal to graph/pad.
#pragma once

#include "ir/array.h"

namespace tunec::pad {

Array ScalarOf(DataType type, double value);
/// Returns the least number of a type: minus infinity if the type has it. GreatestOf returns the
/// greatest.
double LeastOf(DataType type);
double GreatestOf(DataType type);

}  // namespace tunec::pad
