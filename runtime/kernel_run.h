// Runs of a single host kernel, for example on the host as a Device and in measurements.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/kernel.h"
#include "runtime/kernel_calls.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// A kernel with workspace and scratch, bound to arguments, that can run many times. Only one
/// thread at a time may use an object.
class KernelRun {
 public:
  /// Makes a run. `arguments` are base addresses in the order of the kernel's arguments; their
  /// memory must outlive the runs. `workspace` has kernel.workspace_bytes and must outlive the
  /// runs; null: the object allocates one. Errors: kResourceLimit without memory.
  static Result<KernelRun> Make(Kernel kernel, std::vector<void*> arguments, int threads,
                                void* workspace = nullptr);

  /// Sets the address of an argument from the next Run on.
  void SetArgument(size_t number, void* address) { arguments_[number] = address; }

  /// Fills workspace and scratch with 0xff bytes (NaN if read as floats), so that a read before a
  /// write becomes visible.
  void Poison();

  /// Runs all phases. Requires: the pool has at most the threads given to Make.
  void Run(ThreadPool& pool) { pool.RunPhases(phases_); }

 private:
  KernelRun() = default;

  Kernel kernel_;
  std::vector<void*> arguments_;  // moving the vector does not move its elements
  Buffer own_workspace_;          // empty if Make received a workspace
  void* workspace_ = nullptr;
  Buffer scratch_;
  std::unique_ptr<KernelCalls> calls_;
  std::span<const ParallelPhase> phases_;  // part of calls_
};

}  // namespace tunec
