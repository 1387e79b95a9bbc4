// The emission of asynchronous copies from global to shared memory, as instructions (cp.async).
#pragma once

#include <set>

#include "jit/emit/state.h"

namespace tunec::jit {

/// Returns the tokens whose copies all go from global to shared memory, as cp.async requires.
std::set<int> TokensOfCpAsync(const LoopNest& nest);

/// Emits a copy of one element, or in a vector loop of one element per lane. The copy consists of
/// pieces of 16, 8 or 4 bytes. If no piece fits the lanes, the guard and the known alignment, the
/// code loads and stores at once, which is also correct.
/// ElementCopies must have rewritten the nest.
Status EmitAsyncCopy(EmitState& state, const AsyncCopy& copy);

/// Emits the instruction that makes the thread's copies since the last commit a group.
void EmitCommit(EmitState& state);

/// Emits a wait until at most `pending` of the thread's last groups are in flight.
void EmitWait(EmitState& state, int pending);

}  // namespace tunec::jit
