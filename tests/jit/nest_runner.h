// Functions that run a loop nest compiled, emulated and interpreted, and compare the results.
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

/// Returns this machine and, if it has AVX-512, this machine without AVX-512.
std::vector<Target> Targets();
/// Parses and verifies a nest. Fails the test if either fails.
LoopNest Parse(const std::string& text);
/// Compiles the nest for the target. The nest must have no loops over threads (SerializeThreads).
Result<KernelImage> CompileNest(const LoopNest& nest, const Target& target);
Result<std::string> AssemblyOf(const LoopNest& nest, const Target& target);
/// Returns random arguments, without outputs: floats from -2 to 2, bools, and integers in the
/// tensor's range or, without a range, of magnitudes up to 20.
std::vector<Array> RandomArguments(const LoopNest& nest, uint64_t seed);
/// Compiles and runs the nest. Returns one array per output, in logical row-major order. Arguments
/// are aligned only to their elements, or as the tensor requires. Reads after an argument's last
/// aligned byte fault. Fails with kWrongResult if bytes around arguments or scratch have changed.
Result<std::vector<Array>> RunCompiled(const LoopNest& nest, const Target& target,
                                       const std::vector<Array>& arguments);
/// Expects that the stages of CUDA make a valid nest with the results `expected` in the
/// interpreter. A nest that the stages do not support is not compared.
void ExpectStagesRetainResults(const LoopNest& nest, const std::vector<Array>& arguments,
                               const std::vector<Array>& expected);
/// Returns the outputs of the nest in the checked emulation of a GPU. Requires kEmulates
/// (jit/cuda/emulate).
Result<std::vector<Array>> RunEmulated(const LoopNest& nest, const std::vector<Array>& arguments);
/// Runs the nest with random arguments on every target, and in the emulation of a GPU if the
/// emulation supports the nest. Expects the interpreter's results. Floats may differ by `tolerance`
/// times the greatest of both magnitudes and 1.
void ExpectAsInterpreted(const std::string& text, double tolerance = 1e-5, uint64_t seed = 1);

}  // namespace tunec::jit_test
