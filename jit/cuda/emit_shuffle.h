// What threads of a warp read from each other's registers.
#pragma once

#include <array>

#include "ir/loop_nest.h"
#include "jit/emit/state.h"

namespace tunec::jit {

/// The threads of a block as the emitter knows them.
struct BlockThreads {
  std::array<IrValue, 3> numbers = {};  // of this thread along x, y, z, as i64
  Launch launch;
};

/// As shfl.sync.bfly of 32 bits, once or twice.
Status EmitShuffle(EmitState& state, const Shuffle& shuffle, const BlockThreads& threads);

}  // namespace tunec::jit
