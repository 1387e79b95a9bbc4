// Compiles and runs a nest a single time, on arrays: oracles and tests.
#pragma once

#include <span>
#include <vector>

#include "ir/array.h"
#include "ir/loop_nest.h"
#include "ir/target.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Compiles, loads and runs a nest once on logical row-major arrays, converting to and from the
/// layouts of its arguments. `arguments` are the inputs and weights by tensor order; returns the
/// outputs.
Result<std::vector<Array>> CompileAndRun(const LoopNest& nest, std::span<const Array> arguments,
                                         const Target& target, ThreadPool& pool);

}  // namespace tunec
