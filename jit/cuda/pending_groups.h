// The number of groups of copies that may still be in flight after a wait.
//
// A GPU counts a thread's copies by groups. A commit closes a group, and a wait states how many of
// the last groups may still be in flight. A nest's Wait names its copies instead. Therefore this
// pass counts the Arrives between the Arrive that a Wait awaits and the Wait itself.
#pragma once

#include <map>

#include "ir/loop_nest.h"

namespace tunec {

/// Returns for each Wait the least number of Arrives, of any token, between the awaited Arrive and
/// the Wait. The number is 0, which awaits all copies, if it depends on the block or thread, or if
/// counting takes too long. The nest must be verified. The time is O(Arrives and Waits that run in
/// a block).
std::map<const Wait*, int> PendingGroups(const LoopNest& nest);

}  // namespace tunec
