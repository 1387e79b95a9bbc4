// Asynchronous copies from global to shared memory, as instructions (cp.async).
#pragma once

#include <set>

#include "jit/emit/state.h"

namespace tunec::jit {

/// The tokens whose copies all go from global to shared memory: what cp.async can do.
std::set<int> TokensOfCpAsync(const LoopNest& nest);

/// A copy of one element, or in a vector loop of the chunk's lanes: in pieces of 16, 8 or 4 bytes,
/// as long as both ends are known to be aligned. What no piece fits, or what only some lanes do, is
/// loaded and stored at once instead, which is right, too. Requires: ElementCopies.
Status EmitAsyncCopy(EmitState& state, const AsyncCopy& copy);

/// The copies since the last commit are a group.
void EmitCommit(EmitState& state);

/// Until at most so many of the thread's last groups are on their way.
void EmitWait(EmitState& state, int pending);

}  // namespace tunec::jit
