// A loaded kernel as the runtime sees it: one function per phase, and whatever keeps the
// code in memory. The runtime knows no LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tunec {

/// Runs task `task` of one phase. args: the arguments' base addresses (inputs, outputs and
/// weights in the LoopNest's tensor order); workspace: shared by all tasks of the kernel;
/// scratch: this thread's own. Both are 64-byte aligned. The code imports no symbols.
using PhaseFunction = void (*)(void* const* args, void* workspace, void* scratch, int64_t task);

/// Tasks 0 to tasks - 1 come in waves of equally many: those of one wave may run in any order and
/// at the same time, after all those of the wave before.
struct KernelPhase {
  PhaseFunction function = nullptr;
  int64_t tasks = 1;
  int64_t waves = 1;
};

/// A kernel of the host. Copies share the code.
struct Kernel {
  std::vector<KernelPhase> phases;
  int64_t workspace_bytes = 0;
  int64_t scratch_bytes = 0;         // per thread
  std::shared_ptr<const void> code;  // dropping the last owner unloads the code
};

/// Whether functions that are loaded on the host are added to /tmp/perf-PID.map, which perf reads.
enum class PerfMap { kOff, kOn };

}  // namespace tunec
