// Private to runtime/: the memory and the prepared calls of one run at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/executable_plan.h"
#include "runtime/kernel_calls.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Whether the two ranges share a byte.
bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes);

/// Arena, workspace and scratch for a list of steps, and their calls with all addresses that
/// do not change from run to run filled in. Used by one thread at a time; keeps addresses into
/// itself, so it stays where it is. The steps and constants must outlive it.
class RunContext {
 public:
  /// `constants` are the addresses of the plan's constants; those that no step names may be null.
  static Result<std::unique_ptr<RunContext>> Make(std::span<const Step> steps, int64_t arena_bytes,
                                                  std::span<std::byte* const> constants,
                                                  int threads);
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  /// Fills in the caller's buffers. An input that shares bytes with an output is copied aside.
  Status Bind(std::span<const void* const> inputs, std::span<const int64_t> input_bytes,
              std::span<void* const> outputs, std::span<const int64_t> output_bytes);

  /// Runs step i. Requires: all steps before it were run since Bind.
  void RunStep(size_t i, ThreadPool& pool) { pool.RunPhases(steps_[i]); }

  /// How many of the indices are out of range; `outputs` are those of Bind. Requires: all steps
  /// were run since Bind.
  int64_t CountOutside(const IndexCheck& check, std::span<void* const> outputs, ThreadPool& pool);

  /// Bytes allocated.
  int64_t Bytes() const;

  std::unique_ptr<RunContext> next;  // of the executable's list of idle contexts

 private:
  // An argument that is known only when Bind is called.
  struct CallerArgument {
    size_t slot;  // in arguments_
    bool output;
    int32_t index;
    int64_t offset;
  };

  RunContext() = default;
  Status Allocate(std::span<const Step> steps, int64_t arena_bytes, int threads);
  void Prepare(std::span<const Step> steps, std::span<std::byte* const> constants);
  void AddArguments(const Step& step, std::span<std::byte* const> constants);
  void AddCalls(const Step& step, size_t first_argument);

  Buffer arena_;
  Buffer workspace_;
  Buffer scratch_;
  size_t scratch_stride_ = 0;
  std::vector<Buffer> staged_;                     // per input; empty until first needed
  std::vector<const std::byte*> input_addresses_;  // the caller's or staged
  std::vector<void*> arguments_;
  std::vector<CallerArgument> caller_arguments_;
  KernelCalls calls_;
  std::vector<std::span<const ParallelPhase>> steps_;  // of calls_
};

}  // namespace tunec
