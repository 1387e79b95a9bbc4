// What a GPU refuses at run time, or runs from memory in place of registers, said beforehand.
#pragma once

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// kResourceLimit for loops whose launch a driver would refuse: threads of a block, in all and
/// along z, shared memory of a block, blocks of a launch. ptxas checks none of it. The nest may be
/// mapped to threads already, or not yet. O(nodes).
Status CheckLaunchLimits(const LoopNest& nest, const Accelerator& device);

/// At least so many registers has a thread that holds all of its tensors of register scope, and its
/// parts of fragments, at once. Rounded down, and without those for addresses and what is loaded. 0
/// for a phase without any.
int64_t LeastRegisters(const Phase& phase, const LoopNest& nest);

/// kResourceLimit for loops that ask for more registers than a thread, or all threads of a block
/// together, can have: most of them would lie in memory.
Status CheckRegisters(const LoopNest& nest, const Accelerator& device);

}  // namespace tunec
