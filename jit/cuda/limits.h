// Checks of a nest, before its compilation, for a GPU's limits of launches and registers.
#pragma once

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// Checks the limits of a launch: threads of a block, in all and along z, shared memory of a block,
/// blocks of a launch. Fails with kResourceLimit for loops that a driver would reject. ptxas does
/// not check these limits. The nest may be mapped to threads or not. The time is O(nodes).
Status CheckLaunchLimits(const LoopNest& nest, const Accelerator& device);

/// Returns a lower bound of the number of 4-byte registers that a thread needs. It counts tensors
/// of register scope and parts of fragments that are alive at once. It is rounded down and excludes
/// addresses and loaded values. It is 0 for a phase without such tensors and fragments.
int64_t LeastRegisters(const Phase& phase, const LoopNest& nest);

/// Checks the registers. Fails with kResourceLimit if a thread, or all threads of a block together,
/// need more registers than available. The compiler would then place most values in memory. The
/// blocks are not checked if `device.registers` is 0.
Status CheckRegisters(const LoopNest& nest, const Accelerator& device);

}  // namespace tunec
