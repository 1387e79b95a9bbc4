// Private to runtime/: one block of memory for what the prologue makes for all runs.
#pragma once

#include "runtime/executable_plan.h"
#include "support/error.h"

namespace tunec {

/// Gives every constant without data that run steps name its place in one block, in the order in
/// which the steps first name them. So a run walks through packed weights from one end to the
/// other, and a weight smaller than a huge page lies on one, too: each page of 4 KiB would cost a
/// miss of the TLB in every run. The block is kept as long as one of them is; what of it nobody has
/// written takes no memory. Where constants are shared, the pages of one that nobody has any more
/// go before the block does. kResourceLimit without memory.
Status PlaceInArena(ExecutablePlan& plan);

}  // namespace tunec
