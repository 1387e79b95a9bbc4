// One kernel by itself, outside an executable: what the tuner times and tests run.
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

/// A kernel with its scratch, on arguments. Used by one thread at a time.
class KernelRun {
 public:
  /// `arguments` are base addresses in the order of the kernel's arguments; what they point to
  /// outlives the runs. `workspace`: of kernel.workspace_bytes, likewise; null: one of its own.
  /// Errors: kResourceLimit without memory.
  static Result<KernelRun> Make(Kernel kernel, std::vector<void*> arguments, int threads,
                                void* workspace = nullptr);

  /// From the next Run on the argument of that number lies there.
  void SetArgument(size_t number, void* address) { arguments_[number] = address; }

  /// Fills workspace and scratch with NaN, so that what is read before it is written shows.
  void Poison();

  /// Runs all phases. Requires: a pool of no more threads than Make was told.
  void Run(ThreadPool& pool) { pool.RunPhases(phases_); }

 private:
  KernelRun() = default;

  Kernel kernel_;
  std::vector<void*> arguments_;  // a moved vector keeps its elements where they are
  Buffer own_workspace_;          // empty where it was handed one
  void* workspace_ = nullptr;
  Buffer scratch_;
  std::unique_ptr<KernelCalls> calls_;
  std::span<const ParallelPhase> phases_;  // of calls_
};

}  // namespace tunec
