// Comparing attributes.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// The same names with the same values, a NaN being the same as a NaN.
bool SameAttributes(const Attributes& a, const Attributes& b);

}  // namespace tunec
