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
/// the Wait; 0 if there is no such Arrive. All numbers of a phase are 0, which awaits all copies,
/// if counting takes too long. The same holds if Arrives or Waits are in Roles or depend on an
/// unknown value, such as the block's number. The nest must be verified.
std::map<const Wait*, int> PendingGroups(const LoopNest& nest);

}  // namespace tunec
