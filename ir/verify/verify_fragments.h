// Checks of the fragments that a warp's lanes share.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Checks the invariants listed in verify_fragments.cc. Verify calls this function. A caller that
/// checks fragments before Verify can tell an impossible schedule from a bug in the compiler.
/// Requires: all other checks of Verify pass.
Status VerifyFragments(const LoopNest& nest);

}  // namespace tunec
