// Kernels that do nothing but one arithmetic, as fast as the machine can: what ceilings are
// measured with (measure_arithmetic.cc). They are loop nests like any other, and the code generator
// that makes kernels of candidates makes theirs.
#pragma once

#include <cstdint>

#include "autotune/measure/mac_instruction.h"
#include "ir/loop_nest.h"
#include "ir/target.h"

namespace tunec {

struct CeilingKernel {
  LoopNest nest;             // of one task, without workspace; inputs are few and lie in L1
  double multiply_adds = 0;  // of one run
};

/// The kernel that does `rounds` rounds. Requires: rounds >= 1.
CeilingKernel MakeCeilingKernel(const MacInstruction& by, const Target& target, int64_t rounds);

/// How many rounds take about a millisecond.
int64_t UsualRounds(const MacInstruction& by);

}  // namespace tunec
