// A check of the tiles that a warp executes, and of their accumulators.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Checks the invariants listed in verify_fragments.cc. Verify calls this function. A caller that
/// checks fragments before Verify can distinguish an impossible schedule from a bug in the
/// compiler. The nest must satisfy all other invariants of Verify.
Status VerifyFragments(const LoopNest& nest);

}  // namespace tunec
