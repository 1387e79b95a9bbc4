// A program that is ready to run. Made from an ExecutablePlan, it runs the plan's prologue once
// and then serves any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/executable_plan.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Bytes that an executable holds.
struct MemoryUse {
  int64_t constants = 0;    // shared by all runs
  int64_t per_context = 0;  // arena, workspace and scratch; one for each concurrent Run so far
  int64_t contexts = 0;
};

/// Indices of one gather that were out of range: the kernels took the nearest in range instead.
struct OutsideIndices {
  std::string node;
  int64_t extent = 0;  // in range are -extent to extent-1
  int64_t count = 0;   // in all runs so far
};

/// Immutable once made, but for counters. All const members may be called from several threads at
/// once; a moved-from object may only be destroyed or assigned to. The destructor requires that no
/// call is running.
class Executable {
 public:
  /// Checks the plan (kInvalidArgument names the step), runs the prologue, makes one
  /// context. kResourceLimit without memory. `pool` may be shared by executables; without one
  /// a pool of plan.threads is made.
  static Result<Executable> Make(ExecutablePlan plan, std::shared_ptr<ThreadPool> pool = nullptr);

  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  const std::vector<TensorSpec>& Inputs() const;
  const std::vector<TensorSpec>& Outputs() const;
  /// Names of the steps, in order.
  const std::vector<std::string>& StepNames() const;
  int Threads() const;
  MemoryUse Memory() const;
  /// Of the gathers that had any.
  std::vector<OutsideIndices> Outside() const;

  /// Reads the inputs, writes the outputs: one dense buffer for each of Inputs() and Outputs(),
  /// aligned to the element; a buffer of no bytes may be null. An input may overlap outputs (it is
  /// copied first); two outputs may not overlap. Allocates only where more calls run at once than
  /// ever before, or an input overlaps an output for the first time.
  /// kInvalidArgument: a wrong number of buffers, a null or misaligned one; nothing was written.
  /// The plan's refusal, where it has one.
  Status Run(std::span<const void* const> inputs, std::span<void* const> outputs) const;

  /// Run, and the seconds that each step took (allocates).
  Result<std::vector<double>> ProfileRun(std::span<const void* const> inputs,
                                         std::span<void* const> outputs) const;

 private:
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
