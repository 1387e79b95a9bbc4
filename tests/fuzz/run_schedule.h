// Functions that draw decisions for a sketch, and run a schedule as machine code on arrays.
#pragma once

#include <span>
#include <vector>

#include "graph/lower/lower.h"
#include "ir/array.h"
#include "ir/target.h"
#include "kernel/loop_pipeline.h"
#include "runtime/thread_pool.h"
#include "schedule/sketch.h"
#include "support/random.h"

namespace tunec::fuzz {

/// The number of threads. With two threads, a phase's tasks are divided and end with a barrier.
inline constexpr int kThreads = 2;
ThreadPool& Pool();

/// Returns the Computes of the lowerings with the names of the lowerings.
std::vector<NamedCompute> Named(const std::vector<Lowering>& lowerings);

/// Returns the position of a random choice for each knob.
Decisions RandomDecisions(const Sketch& sketch, Random& random);

/// Returns true if a sketch's schedule may be rejected with this code. Random choices may conflict,
/// because they are drawn independently.
bool MayReject(ErrorCode code);

/// Runs any nests that pack weights, then the kernel. `arguments` are the inputs and weights of the
/// Compute, in tensor order. Returns the outputs.
Result<std::vector<Array>> RunScheduled(const KernelLoops& kernel, const Compute& compute,
                                        std::span<const Array> arguments, const Target& target);

}  // namespace tunec::fuzz
