// A compiled nest as a file that runs without a compiler.
#pragma once

#include "ir/loop_nest.h"
#include "runtime/kernel_file.h"

namespace tunec {

/// `image` is the nest's code; a device's needs no packing of weights, whose packed form is an
/// argument of the nest.
KernelFile MakeKernelFile(const LoopNest& nest, KernelImage image);

}  // namespace tunec
