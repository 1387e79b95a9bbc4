// Private to runtime/: one block of memory for the preprocessing's results that runs read.
#pragma once

#include "runtime/executable_plan.h"
#include "support/error.h"

namespace tunec {

/// Assigns an offset in one block to every constant without data that run steps name, in the order
/// of first use. So a run reads packed weights from one end to the other. Weights
/// smaller than a huge page also share huge pages; on pages of 4 KiB, each page would cost a TLB
/// miss in every run. The block lives as long as one of the constants. Parts that are not written
/// yet use no memory. If constants are shared, the pages of an unused constant are freed before the
/// block. Fails with kResourceLimit without memory.
Status AllocateInArena(ExecutablePlan& plan);

}  // namespace tunec
