// The conversion of the GPU kernels of a module to host functions.
#pragma once

#include "jit/cuda/emit_module.h"
#include "jit/cuda/emulate/emulated_thread.h"
#include "support/error.h"

namespace tunec::jit {

/// Name of a function that host modules import, besides the names in instrument.h and warp_calls.h.
/// RunEmulatedBlock implements it.
inline constexpr const char* kRunBlockName = "tunec_run_emulated_block";

/// Converts the kernels to host functions. `kernel(a, b, workspace, first)` becomes two functions:
/// the EmulatedFunction `kernel.thread`, and the PhaseFunction `kernel`, whose tasks are blocks.
/// `kernel` calls kRunBlockName with the launch, kernel.thread and all arguments but the scratch.
/// Loads from the EmulatedThread, calls of the emulation and instructions of the host replace all
/// llvm.nvvm calls. Shared memory becomes the block's memory. Asynchronous copies are executed at
/// once. In checked mode, accesses to shared and global memory are reported first (instrument.h),
/// and copies are executed at their wait. Fails with kInternal for a call without an emulation.
Status MakeHostModule(CudaModule& module, EmulationMode mode);

}  // namespace tunec::jit
