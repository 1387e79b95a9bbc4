// One path from a candidate to a kernel: the tuner, the product and the command take it, so that
// what was measured is what runs.
#pragma once

#include <string>

#include "ir/compute.h"
#include "ir/target.h"
#include "jit/code_generator.h"
#include "kernel/compiled_kernel.h"
#include "kernel/loop_pipeline.h"
#include "support/error.h"

namespace tunec {

struct KernelOptions {
  Target target;
  LoopPipelineOptions loops = {};
};

/// Runs the loop pipeline and generates code for the kernel and, for the target's host, for what
/// packs its weights. The loops are verified once more before that. Errors: of RunLoopPipeline and
/// of the target's CodeGenerator.
Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options);

/// The second half of it, for who compiles the same loops for two targets. Errors: of the target's
/// CodeGenerator.
Result<CompiledKernel> CompileLoops(const KernelLoops& loops, const KernelOptions& options);
/// What the target's CodeGenerator says of the loops before any code is generated
/// (CodeGenerator::CheckFits).
Status CheckFits(const KernelLoops& loops, const Target& target);

/// The pipeline's last stages alone, of loops from elsewhere: as the target runs them, verified,
/// compiled. Errors: kInternal for loops that Verify refuses, and those of the CodeGenerator.
Result<KernelImage> EmitImage(const LoopNest& nest, const Target& target);
/// The same code as text, for people.
Result<std::string> EmitText(const LoopNest& nest, const Target& target, CodeText text);

}  // namespace tunec
