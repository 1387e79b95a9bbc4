// The emission of shuffles, by which the threads of a warp read each other's registers.
#pragma once

#include <array>

#include "ir/loop_nest.h"
#include "jit/emit/state.h"

namespace tunec::jit {

/// The launch of the kernel that is being emitted, and the numbers of a thread in its block.
struct BlockThreads {
  std::array<IrValue, 3> numbers = {};  // numbers of this thread along x, y, z, as i64
  Launch launch;
};

/// Emits a shuffle as one shfl.sync.bfly of 32 bits, or as two for elements of 64 bits.
Status EmitShuffle(EmitState& state, const Shuffle& shuffle, const BlockThreads& threads);

}  // namespace tunec::jit
