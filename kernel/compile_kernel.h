// The only path from a candidate schedule to a kernel. The tuner, compiled models and the
// command-line tool use this path, so the measured code is also the code that runs.
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
/// preprocessing, for the target's host. All loops are verified before code is generated. Fails
/// like RunLoopPipeline and the target's CodeGenerator.
Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options);

/// Runs the part of CompileKernel after RunLoopPipeline, for callers that compile the same loops
/// for two targets. Fails like the target's CodeGenerator.
Result<CompiledKernel> CompileLoops(const KernelLoops& loops, const KernelOptions& options);
/// Returns the result of the CodeGenerator's CheckFits for the kernel's loops. Generates no code.
Status CheckFits(const KernelLoops& loops, const Target& target);

/// Runs only the last stages on the given loops: maps them to the target's threads, verifies them
/// and generates code. Fails with kInternal for loops that Verify rejects, and otherwise like the
/// CodeGenerator.
Result<KernelImage> EmitImage(const LoopNest& nest, const Target& target);
/// Runs the stages of EmitImage, but returns the code as text, for users.
Result<std::string> EmitText(const LoopNest& nest, const Target& target, CodeText text);

}  // namespace tunec
