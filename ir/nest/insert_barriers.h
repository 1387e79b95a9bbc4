// Insertion of barriers between dependent parts of a block's work.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Puts a Barrier before each part of a block's work that conflicts with an earlier part after the
/// last barrier. Two parts conflict if both touch a tensor and one of them writes it; private
/// storage never conflicts. In a loop, the end of an iteration comes before the start of the next
/// one. Also puts a Barrier before an Alloc of shared storage that may reuse touched bytes. Storage
/// of several stages causes no conflict, because the loop that fills such storage has separate
/// barriers. The nest must be verified.
LoopNest InsertBarriers(LoopNest nest);

}  // namespace tunec
