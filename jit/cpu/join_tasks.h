// Removal of the tasks of kernels that take less time than their distribution to threads.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Makes the parallel loops of short phases serial. A phase is short if its operations and the
/// bytes of the kernel's weights take a few microseconds on one thread. Other threads would not
/// start within this time, or would wait longer for operands from another core's cache.
LoopNest JoinShortTasks(LoopNest nest);

}  // namespace tunec
