// The conversion of a compiled nest to a kernel file, which can be run without a compiler.
#pragma once

#include "ir/loop_nest.h"
#include "runtime/kernel_file.h"

namespace tunec {

/// Returns a kernel file. `image` is the nest's code. The file has no code for weight
/// preprocessing: a packed weight is an argument of the nest.
KernelFile MakeKernelFile(const LoopNest& nest, KernelImage image);

}  // namespace tunec
