// One schedule of a group as machine code, on arrays.
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

/// Two, so that phases have barriers and tasks are shared out.
inline constexpr int kThreads = 2;
ThreadPool& Pool();

/// As sketches are asked for them.
std::vector<NamedCompute> Named(const std::vector<Lowering>& lowerings);

/// A position for each knob.
Decisions RandomDecisions(const Sketch& sketch, Random& random);

/// Whether a schedule that a sketch was filled to may be refused with this code: knobs are drawn
/// one by one, and need not fit together.
bool MayRefuse(ErrorCode code);

/// Packs the weights, then runs the kernel. `arguments` are the inputs and weights of the compute,
/// in tensor order; returns the outputs.
Result<std::vector<Array>> RunScheduled(const KernelLoops& kernel, const Compute& compute,
                                        std::span<const Array> arguments, const Target& target);

}  // namespace tunec::fuzz
