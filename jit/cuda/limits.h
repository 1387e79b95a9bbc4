// Checks of a nest, before its compilation, for a GPU's limits of launches and registers.
#pragma once

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// Checks the limits of a launch: threads of a block, in all and along z, shared memory of a block,
/// blocks of a launch. Fails with kResourceLimit beyond a limit, since a driver would reject the
/// launch. ptxas does not check these limits. The nest may be mapped to threads or not.
Status CheckLaunchLimits(const LoopNest& nest, const Accelerator& device);

/// Returns a lower bound of the number of 4-byte registers that a thread needs, rounded down. The
/// bound counts the tensors of register scope and the parts of fragments that are alive at once, as
/// if all were in registers. The bound excludes addresses and loaded values.
int64_t LeastRegisters(const Phase& phase, const LoopNest& nest);

/// Checks the registers. Fails with kResourceLimit if a thread, or all threads of a block together,
/// need more registers than are available. The compiler would then place values in memory. The
/// blocks are not checked if `device.registers` is 0.
Status CheckRegisters(const LoopNest& nest, const Accelerator& device);

}  // namespace tunec
