// Functions that run a nest once on arrays, for references and tests.
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

/// Loads the image of a nest and runs the image once on logical row-major arrays. The arrays are
/// converted to and from the layouts of the nest's arguments. `arguments` are the inputs and
/// weights in tensor order. Returns the outputs.
Result<std::vector<Array>> RunOnce(const LoopNest& nest, const KernelImage& image,
                                   std::span<const Array> arguments, Device& device);

/// Compiles a nest for the target and runs the code once like RunOnce, on the target's device or
/// host.
Result<std::vector<Array>> CompileAndRun(const LoopNest& nest, std::span<const Array> arguments,
                                         const Target& target, ThreadPool& pool);

}  // namespace tunec
