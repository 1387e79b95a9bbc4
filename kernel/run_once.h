// Compiles and runs a nest a single time, on arrays: oracles and tests.
#pragma once

#include <span>
#include <vector>

#include "ir/array.h"
#include "ir/loop_nest.h"
#include "ir/target.h"
#include "runtime/device.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Loads and runs the image of a nest once on logical row-major arrays, converting to and from the
/// layouts of its arguments. `arguments` are the inputs and weights by tensor order; returns the
/// outputs.
Result<std::vector<Array>> RunOnce(const LoopNest& nest, const KernelImage& image,
                                   std::span<const Array> arguments, Device& device);

/// The same of a nest that is compiled first, on the target's device.
Result<std::vector<Array>> CompileAndRun(const LoopNest& nest, std::span<const Array> arguments,
                                         const Target& target, ThreadPool& pool);

}  // namespace tunec
