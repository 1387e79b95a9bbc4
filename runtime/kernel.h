// A loaded kernel: one function per phase, and the owner of the code's memory. The runtime does not
// depend on LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tunec {

/// Runs task `task` of one phase. `args` are the base addresses of the arguments (inputs, outputs
/// and weights in the LoopNest's tensor order). `workspace` is shared by all tasks of the kernel.
/// `scratch` belongs to this thread. Both are 64-byte aligned. Code of kElfFormat has no imports.
using PhaseFunction = void (*)(void* const* args, void* workspace, void* scratch, int64_t task);

/// A phase of a kernel. Tasks 0 to tasks - 1 are split into waves of equal size. Tasks of one wave
/// may run in any order and at the same time, after all tasks of the wave before.
struct KernelPhase {
  PhaseFunction function = nullptr;
  int64_t tasks = 1;
  int64_t waves = 1;
};

/// A loaded kernel of the host. Copies of the object share the code.
struct Kernel {
  std::vector<KernelPhase> phases;
  int64_t workspace_bytes = 0;
  int64_t scratch_bytes = 0;         // per thread
  std::shared_ptr<const void> code;  // destroying the last owner unloads the code
};

/// Option of the host's loader. kOn: the loaded functions are added to /tmp/perf-PID.map, from
/// which perf reads the names of functions.
enum class PerfMap { kOff, kOn };

}  // namespace tunec
