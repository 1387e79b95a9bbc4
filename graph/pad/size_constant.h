// Constants that a padded graph compares with. Internal to graph/pad.
#pragma once

#include "ir/array.h"

namespace tunec::pad {

Array ScalarOf(DataType type, double value);
/// The least number of a type; minus infinity where there is one. And the greatest.
double LeastOf(DataType type);
double GreatestOf(DataType type);

}  // namespace tunec::pad
