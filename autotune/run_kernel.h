// Runs loaded kernels outside an executable, with the same dispatch of tasks to threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/array.h"
#include "ir/loop_nest.h"
#include "ir/target.h"
#include "runtime/buffer.h"
#include "runtime/kernel.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// A kernel with its workspace and scratch. Used by one thread at a time.
class KernelRun {
 public:
  /// Errors: kResourceLimit without memory.
  static Result<KernelRun> Make(Kernel kernel, int threads);

  /// Fills workspace and scratch with NaN, so that what is read before it is written shows.
  void Poison();

  /// Runs all phases. `arguments` are base addresses in the order of the nest's arguments.
  void Run(std::span<void* const> arguments, ThreadPool& pool);

 private:
  Kernel kernel_;
  Buffer workspace_;
  Buffer scratch_;
  size_t scratch_stride_ = 0;
};

/// Compiles, loads and runs a nest once on logical row-major arrays, converting to and from the
/// layouts of its arguments. `arguments` are the inputs and weights by tensor order; returns the
/// outputs.
Result<std::vector<Array>> CompileAndRun(const LoopNest& nest, std::span<const Array> arguments,
                                         const Target& target, ThreadPool& pool);

}  // namespace tunec
