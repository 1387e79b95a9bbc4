// Asynchronous copies from global to shared memory, as instructions (cp.async).
#pragma once

#include <set>

#include "jit/emit/state.h"

namespace tunec::jit {

/// Returns the tokens whose copies all go from global to shared memory, as cp.async requires.
std::set<int> TokensOfCpAsync(const LoopNest& nest);

/// Emits a copy of one element, or in a vector loop of the chunk's lanes. The copy consists of
/// pieces of 16, 8 or 4 bytes, if both ends are known to be aligned. If no piece fits, or only some
/// lanes copy, the code loads and stores at once, which is also correct. Requires: a nest that
/// ElementCopies returned.
Status EmitAsyncCopy(EmitState& state, const AsyncCopy& copy);

/// Makes the copies since the last commit a group.
void EmitCommit(EmitState& state);

/// Waits until at most `pending` of the thread's last groups are in flight.
void EmitWait(EmitState& state, int pending);

}  // namespace tunec::jit
