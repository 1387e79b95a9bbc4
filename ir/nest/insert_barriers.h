// Barriers between what different threads of a block do.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Puts a Barrier before each part of a block's work that touches what another part since the last
/// barrier touched, one of them writing; private storage aside. Work goes around serial loops: what
/// an iteration begins with comes after what the one before ended with. Storage of several stages
/// brings its own barriers and is left out. Requires: a verified nest but for the barriers.
/// Ensures: the dependences that the order of the nest keeps are kept by its threads.
LoopNest InsertBarriers(LoopNest nest);

}  // namespace tunec
