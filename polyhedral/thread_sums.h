// A function that finds how the threads of a block share a reduction.
#pragma once

#include <optional>
#include <vector>

#include "polyhedral/schedule_tree.h"

namespace tunec {

/// A reduction into one element, of which each thread of a block computes a part.
struct ThreadSum {
  std::vector<VarId> threads;  // block loops that divide the reduction, outermost first
  std::vector<VarId> inside;   // loops that each thread runs for its part
};

/// Returns how the threads of a block share a statement's reduction: the enclosing block loops
/// whose iterations all reduce into one element. Returns nullopt if there is no such loop, if the
/// reducer is not reorderable, or if a loop around the statement is part of a tile. Each thread
/// sums its part, and the parts are combined afterwards, at the statement's first instance over all
/// these threads. Therefore the first iterations of all these loops must run, and the written
/// element must not depend on a loop inside them; otherwise the function returns nullopt too.
/// `written` is the statement before or after staging.
std::optional<ThreadSum> ThreadSumOf(const ScheduleTree& tree, StatementId statement,
                                     const Statement& written);

}  // namespace tunec
