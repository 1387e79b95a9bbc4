// A LoopNest as functions of a Builder: the entry of the emitter.
#pragma once

#include <vector>

#include "ir/loop_nest.h"
#include "jit/builder.h"
#include "jit/compile.h"

namespace tunec::jit {

/// Writes one function NAME_phase<k> per phase and returns their names and task counts.
Result<std::vector<PhaseSymbol>> EmitNest(const LoopNest& nest, Builder& builder);

}  // namespace tunec::jit
