// Private to runtime/: a run's memory on the host, and its prepared calls of the host's kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/executable_plan.h"
#include "runtime/in_place_outputs.h"
#include "runtime/kernel_calls.h"
#include "runtime/run_context.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Arena, workspace and scratch for a list of steps, and the prepared calls of the steps. All
/// addresses that do not change between runs are filled in. The object stores addresses of its
/// members, so the object must not move. The steps, the constants and the pool must outlive the
/// object.
class HostContext final : public RunContext {
 public:
  /// Makes a context. `constants` are the plan's; constants that no step names may have no data.
  /// `in_place` must outlive the context.
  static Result<std::unique_ptr<HostContext>> Make(std::span<const Step> steps, int64_t arena_bytes,
                                                   std::span<const Constant> constants,
                                                   ThreadPool& pool,
                                                   const InPlaceOutputs& in_place);

  Status Run(const RunBuffers& buffers, std::span<double> seconds) override;
  /// Runs several contexts as one batch: each step is executed for all of them before the next
  /// step (BatchedPhases). Context i runs on buffers[i]. Requires: the contexts have one pool and
  /// the same number of steps.
  static Status RunBatch(std::span<HostContext* const> contexts,
                         std::span<const RunBuffers> buffers);
  Result<int64_t> CountOutside(const IndexCheck& check, const RunBuffers& buffers) override;
  int64_t Bytes() const override;

 private:
  // An argument of a step that is in an input or output of the run.
  struct CallerArgument {
    size_t slot;  // index in arguments_
    bool output;
    int32_t index;
    int64_t offset;
  };

  HostContext(ThreadPool& pool, const InPlaceOutputs& in_place)
      : pool_(pool), in_place_(in_place) {}
  Status Allocate(std::span<const Step> steps, int64_t arena_bytes);
  void Prepare(std::span<const Step> steps, std::span<const Constant> constants);
  void AddArguments(const Step& step, std::span<const Constant> constants);
  void AddCalls(const Step& step, size_t first_argument);
  // Sets the addresses of the caller's buffers. An input that shares bytes with an output is copied
  // first, unless both are one buffer and `in_place_` allows that.
  Status Bind(const RunBuffers& buffers);
  void RunSteps(std::span<double> seconds);
  void RepeatSteps(std::span<double> seconds);

  ThreadPool& pool_;
  const InPlaceOutputs& in_place_;
  Buffer arena_;
  Buffer workspace_;
  Buffer scratch_;
  size_t scratch_stride_ = 0;
  std::vector<Buffer> staged_;                     // per input; empty until first needed
  std::vector<const std::byte*> input_addresses_;  // the caller's or staged
  std::vector<void*> arguments_;
  std::vector<CallerArgument> caller_arguments_;
  std::span<const Step> plan_;
  std::span<const Constant> constants_;
  KernelCalls calls_;
  std::vector<std::span<const ParallelPhase>> steps_;  // parts of calls_
};

}  // namespace tunec
