// The entry point of the emitter, which writes a LoopNest as functions of an LLVM module.
#pragma once

#include <vector>

#include "ir/loop_nest.h"
#include "jit/builder/builder.h"
#include "jit/emit/machine.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec::jit {

/// Writes one function <nest.name>_phase<k> per phase k and returns the launches of the functions.
/// Fails with kUnsupported or kResourceLimit for a nest that the machine cannot run.
Result<std::vector<PhaseLaunch>> EmitNest(const LoopNest& nest, Machine& machine, Builder& builder);

}  // namespace tunec::jit
