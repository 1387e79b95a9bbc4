// A function that returns random small Computes.
#pragma once

#include <random>

#include "ir/compute.h"

namespace tunec::test {

/// Returns an operator, a stencil over time or a triangular computation of random extents, or a
/// program of small_operators.h. The result is small enough to interpret thousands of schedules.
/// Equal states of `random` give equal programs.
Compute RandomProgram(std::mt19937& random);

}  // namespace tunec::test
