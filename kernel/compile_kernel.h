// The path from a schedule to a kernel. The tuner, the compiler of models and the command-line tool
// use this path, so the measured code is also the code that runs.
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
/// like RunLoopPipeline and EmitImage.
Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options);

/// Runs the part of CompileKernel after RunLoopPipeline, for callers that already have the loops.
/// Fails like EmitImage.
Result<CompiledKernel> CompileLoops(const KernelLoops& loops, const KernelOptions& options);
/// Runs the CodeGenerator's CheckFits on the kernel's loops. Also fails like GeneratorFor.
Status CheckFits(const KernelLoops& loops, const Target& target);

/// Runs only the last stages on the given loops: maps them to the target's threads, verifies them
/// and generates code. Fails with kInternal for loops that Verify rejects, and otherwise like
/// GeneratorFor and the CodeGenerator.
Result<KernelImage> EmitImage(const LoopNest& nest, const Target& target);
/// Does the same for the loops of weight preprocessing (KernelLoops::prepack), for the target's
/// host.
Result<KernelImage> EmitPrepackImage(const LoopNest& nest, const Target& target);
/// Maps and verifies the loops like EmitImage. Returns the code as text (CodeGenerator::Show).
Result<std::string> EmitText(const LoopNest& nest, const Target& target, CodeText text);

}  // namespace tunec
