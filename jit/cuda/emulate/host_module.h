// A module of GPU kernels, for the host.
#pragma once

#include "jit/cuda/emit_module.h"
#include "jit/cuda/emulate/emulated_thread.h"
#include "support/error.h"

namespace tunec::jit {

/// What host modules import, besides kAccessName and what warp_calls.h names; RunEmulatedBlock
/// stands behind it.
inline constexpr const char* kRunBlockName = "tunec_run_emulated_block";

/// Makes host functions of the kernels. `kernel(a, b, workspace, first)` becomes the
/// EmulatedFunction `kernel.thread`, and `kernel` a PhaseFunction whose tasks are blocks: it calls
/// kRunBlockName with the launch, with kernel.thread and with its own arguments. Every llvm.nvvm
/// call becomes a load or a call through EmulatedThread, and shared memory the place that it names.
/// Asynchronous copies take place where they are issued. Checked, each access to memory is told
/// first, and copies take place where they are waited for (instrument.h). kInternal for a call that
/// nobody wrote an emulation of.
Status MakeHostModule(CudaModule& module, EmulationMode mode);

}  // namespace tunec::jit
