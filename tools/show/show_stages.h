// Functions that give a kernel's text after a stage of the loop pipeline, for `tunec show --after`.
#pragma once

#include <string>

#include "kernel/compile_kernel.h"

namespace tunec {

/// Returns all stages for --help, such as "compute_steps, ..., map_threads (cpu), ..., emit".
std::string LoopStageNames();
/// Returns kInvalidArgument with the nearest name if kernels for this target do not have the stage.
Status CheckLoopStage(const std::string& stage, const Target& target);

/// Returns the text of the kernel and of its weight packing after the stage; the LLVM IR for the
/// stage `emit`. Requires: CheckLoopStage accepts the stage. Errors: those of CompileKernel, and of
/// the generator's Show.
Result<std::string> TextAfterStage(const Compute& compute, const Schedule& schedule,
                                   KernelOptions options, const std::string& stage);

}  // namespace tunec
