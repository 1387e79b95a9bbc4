// Makes a file from a compiled nest that runs without a compiler.
#pragma once

#include "ir/loop_nest.h"
#include "runtime/kernel_file.h"

namespace tunec {

/// Makes a kernel file. `image` is the nest's code. A device's file needs no weight preprocessing,
/// because the packed weight is an argument of the nest.
KernelFile MakeKernelFile(const LoopNest& nest, KernelImage image);

}  // namespace tunec
