// Functions that run a loop nest compiled and interpreted, and compare the results.
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
/// Compiles the nest for the target. The caller must map loops over blocks of threads before.
Result<KernelImage> CompileNest(const LoopNest& nest, const Target& target);
Result<std::string> AssemblyOf(const LoopNest& nest, const Target& target);
/// Returns random arguments: floats from -2 to 2, and integers in the tensor's range or, without a
/// range, of magnitudes up to 20.
std::vector<Array> RandomArguments(const LoopNest& nest, uint64_t seed);
/// Compiles and runs the nest. Returns one array per output, in logical row-major order. Arguments
/// are aligned only to their elements (or as the tensor requires) and end where a further read
/// faults. Fails with kWrongResult if surrounding bytes were written.
Result<std::vector<Array>> RunCompiled(const LoopNest& nest, const Target& target,
                                       const std::vector<Array>& arguments);
/// Expects that a GPU's stages (CodeGenerator::Stages) make a valid nest with the same results in
/// the interpreter.
void ExpectStagesRetainResults(const LoopNest& nest, const std::vector<Array>& arguments,
                               const std::vector<Array>& expected);
/// Returns the outputs of the nest in the checked emulation of a GPU. Requires kEmulates
/// (jit/cuda/emulate).
Result<std::vector<Array>> RunEmulated(const LoopNest& nest, const std::vector<Array>& arguments);
/// Runs the nest with random arguments on every target and in the emulation of a GPU. Expects the
/// interpreter's results. Floats may differ by `tolerance` times the larger magnitude or 1. A nest
/// that the emulation does not support is not compared there.
void ExpectAsInterpreted(const std::string& text, double tolerance = 1e-5, uint64_t seed = 1);

}  // namespace tunec::jit_test
