// Functions for `tunec show --after`, which prints kernels after a stage of the loop pipeline.
#pragma once

#include <string>

#include "kernel/compile_kernel.h"

namespace tunec {

/// Returns a list of all stages for --help: "compute_steps, ..., map_threads (cpu), ..., emit".
std::string LoopStageNames();
/// Returns kInvalidArgument with the known names if kernels for this target do not have the stage.
Status CheckLoopStage(const std::string& stage, const Target& target);

/// Returns the text of the kernel after the stage, and of each prepack that has the stage. The text
/// is LLVM IR for the stage `emit`. Requires: CheckLoopStage accepts the stage. Errors: those of
/// CompileKernel, and of the generator's Show.
Result<std::string> TextAfterStage(const Compute& compute, const Schedule& schedule,
                                   KernelOptions options, const std::string& stage);

}  // namespace tunec
