// Replacement of asynchronous copies by stores or by copies of one element.
#pragma once

#include <set>

#include "ir/loop_nest.h"

namespace tunec {

/// Replaces asynchronous copies by loops of stores at the point of issue, and removes Arrives and
/// Waits. Copies, Arrives and Waits whose token is in `retained_tokens` stay. The nest must be
/// verified. The results of the nest do not change, also with concurrent threads.
LoopNest PlainCopies(const LoopNest& nest, const std::set<int>& retained_tokens = {});

/// Replaces asynchronous copies of several elements by loops around copies of one element. The
/// innermost of these loops is a vector loop, or serial if the copy is already inside a vector
/// loop.
LoopNest ElementCopies(const LoopNest& nest);

}  // namespace tunec
