// The calls of kernels, prepared once and run many times: every run of a host's kernel, in a model,
// in the tuner or for a ceiling, goes through these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Bytes from one thread's scratch to the next one's, for kernels that want so many each. Threads
/// write their scratch at the same time: it keeps them off each other's cache lines, and large
/// scratch off each other's pages, so that each is placed near the thread that first touches it.
size_t ScratchStride(int64_t scratch_bytes);

/// What a kernel runs on. Everything outlives the calls.
struct KernelMemory {
  void* const* arguments = nullptr;  // base addresses, in the order of the kernel's arguments
  void* workspace = nullptr;         // of kernel.workspace_bytes
  std::byte* scratch = nullptr;      // of thread 0; the others' follow at the stride
  size_t scratch_stride = 0;
};

/// How many parallel phases a run of the kernel is: one for each wave of each of its phases.
size_t CountParallelPhases(const Kernel& kernel);

/// Kernel calls and copies in the order they were added. Keeps addresses of its own elements, so it
/// stays where it is. Used by one thread at a time.
class KernelCalls {
 public:
  KernelCalls() = default;
  KernelCalls(const KernelCalls&) = delete;
  KernelCalls& operator=(const KernelCalls&) = delete;

  /// Room for so many parallel phases in all. Requires: nothing was added yet.
  void Reserve(size_t parallel_phases);
  /// What is returned runs the kernel, and is valid as long as the calls are.
  /// Requires: Reserve left room for CountParallelPhases(kernel).
  std::span<const ParallelPhase> Add(const Kernel& kernel, const KernelMemory& memory);
  /// The same for a copy of so many bytes from arguments[0] to arguments[1], as one parallel phase.
  std::span<const ParallelPhase> AddCopy(void* const* arguments, int64_t bytes);
  /// All that was added, in order.
  std::span<const ParallelPhase> All() const { return phases_; }

 private:
  // What a ParallelPhase hands to RunTasks or CopyChunks.
  struct Call {
    PhaseFunction function = nullptr;
    int64_t first = 0;  // task of this wave
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
