// Scalars of a padded graph, and the limits of types. Only graph/pad uses this file.
#pragma once

#include "ir/array.h"

namespace tunec::pad {

Array ScalarOf(DataType type, double value);
/// Returns the least number of a type: minus infinity for floats. GreatestOf returns the greatest,
/// rounded up to a power of 2 for 64-bit integers. ScalarOf converts this power to the greatest
/// number.
double LeastOf(DataType type);
double GreatestOf(DataType type);

}  // namespace tunec::pad
