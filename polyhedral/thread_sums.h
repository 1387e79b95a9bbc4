// Reductions that the threads of a block share out.
#pragma once

#include <optional>
#include <vector>

#include "polyhedral/schedule_tree.h"

namespace tunec {

/// A statement's reduction into one element, whose parts are taken by different threads.
struct ThreadSum {
  std::vector<VarId> threads;  // the block loops over them, outermost first
  std::vector<VarId> inside;   // the loops of each thread
};

/// The reduction of a statement over the block loops around it in which all iterations reduce into
/// one element; none without such a loop. Each thread can then sum its part alone, and the parts
/// can be combined afterwards, wherever the statement's first instance of all threads is one: so
/// the first iterations of all these loops have to run, and no loop inside may choose among
/// elements. `written`: the statement before staging.
std::optional<ThreadSum> ThreadSumOf(const ScheduleTree& tree, StatementId statement,
                                     const Statement& written);

}  // namespace tunec
