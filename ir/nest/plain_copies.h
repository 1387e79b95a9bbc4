// Copies in flight, done at once or one element at a time.
#pragma once

#include <set>

#include "ir/loop_nest.h"

namespace tunec {

/// Asynchronous copies become loops of stores where they are issued; Arrives and Waits go. Those of
/// the tokens in `kept` stay. Requires: a verified nest. Ensures: the same results, also with
/// threads that run side by side.
LoopNest PlainCopies(const LoopNest& nest, const std::set<int>& kept = {});

/// Asynchronous copies of boxes become loops around copies of one element, the innermost a vector
/// loop where none is around it.
LoopNest ElementCopies(const LoopNest& nest);

}  // namespace tunec
