// Random small Computes of the kinds that schedules are for.
#pragma once

#include <random>

#include "ir/compute.h"

namespace tunec::test {

/// A product, convolution, pool, reduction, chain, attention, stencil over time, recurrence or
/// triangular update of random, awkward extents; small enough to interpret thousands of
/// schedules. Equal seeds give equal programs.
Compute RandomProgram(std::mt19937& random);

}  // namespace tunec::test
