// Private to runtime/: one block of memory for those results of the preprocessing that run steps
// name.
#pragma once

#include "runtime/executable_plan.h"
#include "support/error.h"

namespace tunec {

/// Allocates one block of memory for all non-empty constants without data that run steps name, and
/// sets their `data`. The constants are in the order of first use. So weights smaller than a huge
/// page can share huge pages, which saves TLB misses. The block is freed with the last of the
/// constants. If plan.shared is set, the whole pages within an unused constant are freed before the
/// block. Fails with kResourceLimit without memory.
Status AllocateInArena(ExecutablePlan& plan);

}  // namespace tunec
