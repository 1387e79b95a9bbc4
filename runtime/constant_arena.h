// Private to runtime/: one block of memory for the results of the preprocessing that run steps
// read.
#pragma once

#include "runtime/executable_plan.h"
#include "support/error.h"

namespace tunec {

/// Allocates one block of memory for all constants without data that run steps name, and sets their
/// `data`. The constants are in the order of first use, so a run reads packed weights from one end
/// to the other. Weights smaller than a huge page also share huge pages; on pages of 4 KiB, each
/// page would cost a TLB miss in every run. The block is freed with the last of the constants.
/// Parts that are not written yet use no memory. If plan.shared is set, the pages of an unused
/// constant are freed before the block. Fails with kResourceLimit without memory.
Status AllocateInArena(ExecutablePlan& plan);

}  // namespace tunec
