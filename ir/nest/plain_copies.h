// Replacement of asynchronous copies by stores or by copies of one element.
#pragma once

#include <set>

#include "ir/loop_nest.h"

namespace tunec {

/// Replaces asynchronous copies by loops of stores at the point of issue, and removes Arrives and
/// Waits. Tokens in `kept` are left unchanged. Requires: a verified nest. Ensures: the same
/// results, also with concurrent threads.
LoopNest PlainCopies(const LoopNest& nest, const std::set<int>& kept = {});

/// Replaces asynchronous copies of several elements by loops around copies of one element. The
/// innermost loop is a vector loop, unless the copy is inside one already.
LoopNest ElementCopies(const LoopNest& nest);

}  // namespace tunec
