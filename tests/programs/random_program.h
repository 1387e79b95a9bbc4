// A function that returns random small Computes of the kinds that schedules apply to.
#pragma once

#include <random>

#include "ir/compute.h"

namespace tunec::test {

/// Returns a product, convolution, softmax, reduction, attention, stencil over time or triangular
/// update of random extents, or a program of small_operators.h. The program is small enough to
/// interpret thousands of its schedules. Equal states of `random` give equal programs.
Compute RandomProgram(std::mt19937& random);

}  // namespace tunec::test
