// One path from a candidate to a kernel: the tuner, the product and the command take it, so that
// what was measured is what runs.
#pragma once

#include <cstdint>
#include <string>

#include "ir/compute.h"
#include "ir/target.h"
#include "kernel/compiled_kernel.h"
#include "kernel/loop_pipeline.h"
#include "schedule/steps/step.h"
#include "support/error.h"

namespace tunec {

struct KernelOptions {
  Target target;
  LoopPipelineOptions loops = {};
};

/// Runs the loop pipeline and generates code for the kernel and for what packs its weights. The
/// loops are verified once more before that. Errors: of RunLoopPipeline and CompileObject.
Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options);

/// The pipeline's last stages alone, of loops from elsewhere: verified, as a CPU runs them,
/// compiled. Errors: kInternal for loops that Verify refuses, and those of CompileObject.
Result<ObjectCode> EmitObject(const LoopNest& nest, const Target& target);
/// The same code as text, for people.
enum class CodeText : uint8_t { kLlvmIr, kAssembly };
Result<std::string> EmitText(const LoopNest& nest, const Target& target, CodeText text);

}  // namespace tunec
