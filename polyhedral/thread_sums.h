// Reductions that the threads of a block share.
#pragma once

#include <optional>
#include <vector>

#include "polyhedral/schedule_tree.h"

namespace tunec {

/// A statement's reduction into one element, whose parts different threads compute.
struct ThreadSum {
  std::vector<VarId> threads;  // the block loops over the parts, outermost first
  std::vector<VarId> inside;   // the serial loops of each thread
};

/// Returns the reduction of a statement over the enclosing block loops whose iterations all reduce
/// into one element. Returns nullopt if there is no such loop. Each thread sums its part, and the
/// parts are combined afterwards, at the statement's first instance over all threads. Therefore the
/// first iterations of all these loops have to run, and no inner loop may select elements.
/// `written` is the statement before staging.
std::optional<ThreadSum> ThreadSumOf(const ScheduleTree& tree, StatementId statement,
                                     const Statement& written);

}  // namespace tunec
