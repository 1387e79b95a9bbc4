// Runs a LoopNest compiled and interpreted, and compares the results.
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
/// Parses and verifies. Fails the test if either fails.
LoopNest Parse(const std::string& text);
/// Returns the target's code for the nest as it is. The caller must map blocks of threads before.
Result<KernelImage> CompileNest(const LoopNest& nest, const Target& target);
Result<std::string> AssemblyOf(const LoopNest& nest, const Target& target);
/// Returns random arguments: floats from -2 to 2, and integers in the tensor's range or, without a
/// range, of magnitudes up to 20.
std::vector<Array> RandomArguments(const LoopNest& nest, uint64_t seed);
/// Returns one array per output, logically row-major. Arguments are aligned only to their elements
/// (or as the tensor requires) and end where a further read faults. Fails with kWrongResult if
/// surrounding bytes were written.
Result<std::vector<Array>> RunCompiled(const LoopNest& nest, const Target& target,
                                       const std::vector<Array>& arguments);
/// Expects that a GPU's stages (CodeGenerator::Stages) make a valid nest with the same results in
/// the interpreter.
void ExpectStagesRetainResults(const LoopNest& nest, const std::vector<Array>& arguments,
                               const std::vector<Array>& expected);
/// Returns the outputs of the nest in the checked emulation of a GPU. Requires kEmulates
/// (jit/cuda/emulate).
Result<std::vector<Array>> RunEmulated(const LoopNest& nest, const std::vector<Array>& arguments);
/// Compiles for every target and for the emulation of a GPU, and compares with the interpreter.
/// Floats may differ by `tolerance` times the larger magnitude or 1. A nest that the emulation
/// does not support is not compared there.
void ExpectAsInterpreted(const std::string& text, double tolerance = 1e-5, uint64_t seed = 1);

}  // namespace tunec::jit_test
