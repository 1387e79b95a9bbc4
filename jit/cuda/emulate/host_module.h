// A module of GPU kernels, for the host.
#pragma once

#include "jit/cuda/emit_module.h"
#include "support/error.h"

namespace tunec::jit {

/// Makes host functions of the kernels: `kernel(a, b, workspace, first)` becomes
/// `kernel(ptr {a, b}, workspace, ptr EmulatedThread, first)`, a PhaseFunction whose scratch says
/// which thread runs it. Every llvm.nvvm call becomes a load or a call through EmulatedThread, and
/// shared memory the place that it names. kInternal for a call that nobody wrote an emulation of.
Status MakeHostModule(CudaModule& module);

}  // namespace tunec::jit
