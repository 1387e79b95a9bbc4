// Insertion of barriers between dependent parts of a block's work.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Puts a Barrier before each part of a block's work that conflicts with an earlier part since the
/// last barrier. Two parts conflict if both touch a tensor and one of them writes it; private
/// storage never conflicts. Serial loops are cyclic: the begin of an iteration comes after the end
/// of the previous one. Storage of several stages has its own barriers and is ignored. Requires: a
/// nest that is verified but for the barriers. Ensures: threads respect all dependences that the
/// order of the nest implies.
LoopNest InsertBarriers(LoopNest nest);

}  // namespace tunec
