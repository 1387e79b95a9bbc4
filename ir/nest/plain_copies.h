// Copies in flight, done at once.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Asynchronous copies become loops of stores where they are issued; Arrives and Waits go.
/// Requires: a verified nest. Ensures: the same results, also with threads that run side by side.
LoopNest PlainCopies(const LoopNest& nest);

}  // namespace tunec
