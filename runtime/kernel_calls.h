// Prepared calls of host kernels. A prepared call can run many times. All runs of host kernels use
// these calls: in a model, in the tuner, and in measurements of the machine's peak rates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Returns the distance between the scratch memories of two threads, in bytes. Threads write their
/// scratch at the same time. So the distance separates their cache lines. The distance also
/// separates the pages of large scratch, so each page is placed near its first user.
size_t ScratchStride(int64_t scratch_bytes);

/// The memory that a call of a kernel uses. It must outlive the call.
struct KernelMemory {
  void* const* arguments = nullptr;  // base addresses, in the order of the kernel's arguments
  void* workspace = nullptr;         // kernel.workspace_bytes bytes
  std::byte* scratch = nullptr;      // scratch of thread 0; that of others follows at the stride
  size_t scratch_stride = 0;
};

/// Returns the number of parallel phases of a run: one per wave of each phase.
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
  // A call of one wave of a phase, or a copy. A ParallelPhase passes it to RunTasks or CopyChunks.
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
