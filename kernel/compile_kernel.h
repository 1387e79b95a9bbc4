// The only path from a candidate to a kernel. The tuner, the product and the command use this path.
// So the measured code is also the code that runs.
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

/// Runs the loop pipeline and generates code for the kernel. Also generates code for weight
/// preprocessing, for the target's host. The loops are verified once more before that. Errors:
/// those of RunLoopPipeline and of the target's CodeGenerator.
Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options);

/// Runs the second half of CompileKernel, for callers that compile the same loops for two targets.
/// Errors: those of the target's CodeGenerator.
Result<CompiledKernel> CompileLoops(const KernelLoops& loops, const KernelOptions& options);
/// Returns the verdict of the target's CodeGenerator on the loops, before any code is generated
/// (CodeGenerator::CheckFits).
Status CheckFits(const KernelLoops& loops, const Target& target);

/// Runs only the last stages on the given loops: maps them to the target, verifies and compiles
/// them. Errors: kInternal for loops that Verify rejects, and those of the CodeGenerator.
Result<KernelImage> EmitImage(const LoopNest& nest, const Target& target);
/// Returns the same code as text for users.
Result<std::string> EmitText(const LoopNest& nest, const Target& target, CodeText text);

}  // namespace tunec
