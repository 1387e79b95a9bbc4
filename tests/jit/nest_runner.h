// Runs a LoopNest compiled and interpreted, and compares.
#pragma once

#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/loop_nest.h"
#include "ir/target.h"
#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec::jit_test {

/// This machine, and this machine as if it had no AVX-512 (the same where it has none).
std::vector<Target> Targets();
/// Parses, verifies; fails the test when either fails.
LoopNest Parse(const std::string& text);
/// What the target's code generator makes of a nest as it stands: blocks of threads are the
/// caller's to map.
Result<KernelImage> CompileNest(const LoopNest& nest, const Target& target);
Result<std::string> AssemblyOf(const LoopNest& nest, const Target& target);
/// Random arguments: integers within the tensor's range (or small), floats around 0.
std::vector<Array> RandomArguments(const LoopNest& nest, uint64_t seed);
/// One array per output, logical row-major. Arguments are aligned to their elements only (or as the
/// tensor says) and end where reading on faults; kWrongResult when bytes around were written.
Result<std::vector<Array>> RunCompiled(const LoopNest& nest, const Target& target,
                                       const std::vector<Array>& arguments);
/// The same by kernels for GPUs, in the checked emulation. Requires: kEmulates (jit/cuda/emulate).
Result<std::vector<Array>> RunEmulated(const LoopNest& nest, const std::vector<Array>& arguments);
/// Compiles for every target and for the emulation of a GPU, and compares with the interpreter; the
/// difference may be at most `tolerance` times the larger magnitude (or times 1).
void ExpectAsInterpreted(const std::string& text, double tolerance = 1e-5, uint64_t seed = 1);

}  // namespace tunec::jit_test
