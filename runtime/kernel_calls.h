// Prepared calls of host kernels. A prepared call can run many times. Models, the tuner and
// measurements of the machine's peak rates use these calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Returns the bytes from the scratch memory of a thread to that of the next thread. Threads write
/// their scratch at the same time. So this distance separates the threads' cache lines, and the
/// pages of large scratch. Each page is then placed near its first user.
size_t ScratchStride(int64_t scratch_bytes);

/// The memory that a prepared call of a kernel uses. The memory must outlive all runs of the call.
struct KernelMemory {
  void* const* arguments = nullptr;  // base addresses, in the order of the kernel's arguments
  void* workspace = nullptr;         // kernel.workspace_bytes bytes
  std::byte* scratch = nullptr;      // scratch of thread 0; that of others follows at the stride
  size_t scratch_stride = 0;
};

/// Returns the number of waves of all phases. A run has at most as many parallel phases.
size_t CountParallelPhases(const Kernel& kernel);

/// A list of kernel calls and copies, in the order in which they were added. The list stores
/// addresses of its elements, so it must not move. Only one thread at a time may use a list.
class KernelCalls {
 public:
  KernelCalls() = default;
  KernelCalls(const KernelCalls&) = delete;
  KernelCalls& operator=(const KernelCalls&) = delete;

  /// Reserves room for this number of parallel phases in total. Requires: nothing was added yet.
  void Reserve(size_t parallel_phases);
  /// Adds a kernel and returns the phases that run the kernel. The phases are valid as long as this
  /// object. Requires: Reserve left room for CountParallelPhases(kernel).
  std::span<const ParallelPhase> Add(const Kernel& kernel, const KernelMemory& memory);
  /// Adds a copy of `bytes` bytes from arguments[0] to arguments[1] as one parallel phase.
  std::span<const ParallelPhase> AddCopy(void* const* arguments, int64_t bytes);
  /// Returns all added phases in order.
  std::span<const ParallelPhase> All() const { return phases_; }

 private:
  // A call of one wave of a phase, or a copy. A ParallelPhase passes the Call to RunTasks or
  // CopyChunks.
  struct Call {
    PhaseFunction function = nullptr;
    int64_t first = 0;  // first task of this wave
    KernelMemory memory = {};
    int64_t copy_bytes = 0;
  };
  static void RunTasks(void* call, int64_t begin, int64_t end, int thread);
  static void CopyChunks(void* call, int64_t begin, int64_t end, int thread);
  void Append(const Call& call, ParallelPhase phase);

  std::vector<Call> calls_;
  std::vector<ParallelPhase> phases_;  // phase i runs calls_[i]
};

}  // namespace tunec
