// Insertion of barriers between dependent parts of a block's work.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Puts a Barrier before each part of a block's work that conflicts with a part after the last
/// barrier. Two parts conflict if both touch a tensor and one of them writes it; private storage
/// never conflicts. In a serial loop, the end of an iteration comes before the start of the next
/// one. Storage of several stages is ignored, because the loop that fills it has separate barriers.
/// Except for the barriers, the nest must be valid (Verify). In the result, the barriers enforce
/// all dependences that the order of the nest implies.
LoopNest InsertBarriers(LoopNest nest);

}  // namespace tunec
