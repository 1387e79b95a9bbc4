// The entry point of the emitter. It writes a LoopNest as functions of a Builder.
#pragma once

#include <vector>

#include "ir/loop_nest.h"
#include "jit/builder/builder.h"
#include "jit/emit/machine.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec::jit {

/// Writes one function NAME_phase<k> per phase and returns the launches of the functions. Fails
/// with kUnsupported or kResourceLimit for a nest that the machine cannot run.
Result<std::vector<PhaseLaunch>> EmitNest(const LoopNest& nest, Machine& machine, Builder& builder);

}  // namespace tunec::jit
