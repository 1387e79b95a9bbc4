// Kernels that measure ceilings (measure_arithmetic.cc). Each kernel does the multiply-adds of one
// instruction as fast as the machine can. The kernels are ordinary loop nests, compiled by the same
// code generator as candidates.
#pragma once

#include <cstdint>

#include "autotune/measure/mac_instruction.h"
#include "ir/loop_nest.h"
#include "ir/target.h"

namespace tunec {

struct CeilingKernel {
  LoopNest nest;             // one task, no workspace; the few inputs fit in L1
  double multiply_adds = 0;  // multiply-adds of one run
};

/// Makes the kernel that does `rounds` rounds. A round is one multiply-add instruction for each of
/// several accumulators. Requires: rounds >= 1.
CeilingKernel MakeCeilingKernel(const MacInstruction& by, const Target& target, int64_t rounds);

/// Returns the number of rounds that take about a millisecond.
int64_t UsualRounds(const MacInstruction& by);

}  // namespace tunec
