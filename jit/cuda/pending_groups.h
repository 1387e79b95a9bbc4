// How much a wait for copies may leave on its way.
//
// A GPU knows a thread's copies by groups: a commit closes one, and a wait says how many of the
// last groups may still be on their way. A nest's Wait names the copies it is for instead. So it is
// counted how many Arrives come between the one that a Wait is for and the Wait itself.
#pragma once

#include <map>

#include "ir/loop_nest.h"

namespace tunec {

/// For each Wait the number of Arrives, of any token, that have come after the awaited one whenever
/// it runs: at least so many. 0, which awaits all, where that hangs on what only a block or a
/// thread knows, or where counting takes too long. Requires: a verified nest. O(Arrives and Waits
/// that run in a block).
std::map<const Wait*, int> PendingGroups(const LoopNest& nest);

}  // namespace tunec
