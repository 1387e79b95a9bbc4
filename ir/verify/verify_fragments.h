// What a warp's lanes do with the fragments that they share.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Checks the invariants listed in verify_fragments.cc. A part of Verify; before it, it tells a
/// schedule that cannot be from a mistake of ours. Requires: all else that Verify checks.
Status VerifyFragments(const LoopNest& nest);

}  // namespace tunec
