// What one stage of the loop pipeline leaves of a kernel, as `tunec show --after` prints it.
#pragma once

#include <string>

#include "kernel/compile_kernel.h"

namespace tunec {

/// "compute_steps, loop_steps, ...": for --help.
std::string LoopStageNames();
/// kInvalidArgument, with the nearest name, for a stage that there is not.
Status CheckLoopStage(const std::string& stage);

/// The text of the kernel, and of what packs its weights, after the stage; LLVM IR after the last.
/// Requires: CheckLoopStage accepts the stage. Errors: of CompileKernel.
Result<std::string> TextAfterStage(const Compute& compute, const Schedule& schedule,
                                   KernelOptions options, const std::string& stage);

}  // namespace tunec
