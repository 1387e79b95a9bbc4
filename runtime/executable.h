// A program that is ready to run. Made from an ExecutablePlan, it runs the plan's prologue once
// and then serves any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/copy_box.h"
#include "runtime/executable_plan.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Where a caller's buffer lies: `kDevice` is the memory of the executable's device, `kHostNow` the
/// host's, pageable, which is read before the call returns.
enum class BufferPlace : uint8_t { kHost, kDevice, kHostNow };

/// When a call that runs returns: `kQueued` with the run in the caller's stream, not done yet.
enum class RunReturn : uint8_t { kDone, kQueued };

/// What a run of an executable on a device may be told beside its buffers.
struct RunOptions {
  /// Of each input and output. No elements: all are the host's.
  std::span<const BufferPlace> inputs = {};
  std::span<const BufferPlace> outputs = {};
  /// Of each input and output: which box of the caller's array, whose first byte the buffer names,
  /// it is, and which of the tensor, whose extents may be split; null: all of both. What of an
  /// input is in no box is 0, what of an output, the caller's. No elements: none is a box. Of a
  /// device.
  std::span<const BoxCopy* const> input_boxes = {};
  std::span<const BoxCopy* const> output_boxes = {};
  /// A stream of the device's that the run is put into, in order with what others put there. Null:
  /// one of the executable's own; then what the device's buffers hold has to be there already.
  void* stream = nullptr;
  /// kQueued: no buffer is kHost, and there is a stream. What they point to stays until
  /// the run is done, which the stream tells, or Executable::Wait.
  RunReturn returns = RunReturn::kDone;
};

/// What a caller gives to a run.
struct CallerBuffers {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
};

class Executable;

/// One of several runs that go together.
struct JoinedRun {
  const Executable* executable = nullptr;
  CallerBuffers buffers;
};

/// Bytes that an executable holds, of the host's memory or of its device's.
struct MemoryUse {
  int64_t constants = 0;    // shared by all runs; other executables may have some of them, too
  int64_t per_context = 0;  // arena, workspace and scratch; one for each concurrent Run so far
  int64_t contexts = 0;
};

/// Indices of one gather that were out of range: the kernels took the nearest in range instead.
struct OutsideIndices {
  std::string node;
  int64_t extent = 0;  // in range are -extent to extent-1
  int64_t count = 0;   // in all runs so far but queued ones
};

/// Immutable once made, but for counters. All const members may be called from several threads at
/// once; a moved-from object may only be destroyed or assigned to. The destructor requires that no
/// call is running; it waits for runs that were queued.
class Executable {
 public:
  /// Checks the plan (kInvalidArgument names the step), runs the prologue, copies the constants to
  /// the plan's device where it has one, makes one context. kResourceLimit without memory; of a
  /// device it says what is needed and what is free. kDevice for what a device refuses. `pool` may
  /// be shared by executables; without one a pool of plan.threads is made. A device that runs on a
  /// pool runs on this one.
  static Result<Executable> Make(ExecutablePlan plan, std::shared_ptr<ThreadPool> pool = nullptr);

  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  const std::vector<TensorSpec>& Inputs() const;
  const std::vector<TensorSpec>& Outputs() const;
  /// Names of the steps, in order.
  const std::vector<std::string>& StepNames() const;
  int Threads() const;
  /// The number of the device whose memory callers' buffers may lie in; none: the host's only.
  std::optional<int> DeviceNumber() const;
  MemoryUse Memory() const;
  /// Of the gathers that had any.
  std::vector<OutsideIndices> Outside() const;
  /// What a user should know of how the runs so far were done: one line each.
  std::vector<std::string> Notes() const;

  /// Reads the inputs, writes the outputs: one dense buffer for each of Inputs() and Outputs(),
  /// aligned to the element; a buffer of no bytes may be null. An input may overlap outputs (it is
  /// copied first); two outputs may not overlap. Allocates only where more calls run at once than
  /// ever before, or an input overlaps an output for the first time.
  /// kInvalidArgument: a wrong number of buffers, a null or misaligned one; nothing was written.
  /// The plan's refusal, where it has one.
  /// On a device: buffers of the host are copied there and back. Those of the device are used as
  /// they are, but for inputs that overlap outputs and buffers at no multiple of 16 bytes, which
  /// are copied aside. When it returns, all is done, unless the options say otherwise. kDevice for
  /// what went wrong, and outputs may have been written then.
  /// Of a run that was queued the call says what went wrong so far. What goes wrong in it later is
  /// said once: by a later call of Run, which does not run then, or by Wait. Runs queued in one
  /// stream share memory, in whose order they use it; of several streams each has memory of its own
  /// while a run of it is under way.
  Status Run(std::span<const void* const> inputs, std::span<void* const> outputs,
             const RunOptions& options = {}) const;

  /// Whether runs of the two may go together: both are the host's, of one pool, and have as many
  /// steps.
  bool GoesWith(const Executable& other) const;
  /// Several runs, each step for all of them before the next step begins, so that constants that
  /// they share come from memory once. Errors: as Run's. No run's outputs may overlap another's
  /// buffers. `options` are each one's. Requires: each executable goes with the first; runs.
  static Status RunTogether(std::span<const JoinedRun> runs, const RunOptions& options = {});

  /// Frees the memory of runs that are over; the next run allocates it again. That of a queued run
  /// that is not done stays.
  void FreeIdle() const;

  /// Waits for all runs that were queued. The first error of those that nobody has heard of.
  Status Wait() const;

  /// Run, and the seconds that each step took (allocates). Returns when it is done.
  Result<std::vector<double>> ProfileRun(std::span<const void* const> inputs,
                                         std::span<void* const> outputs,
                                         const RunOptions& options = {}) const;

  /// Like a run in which each step runs `times` times before the next begins, so that it finds
  /// its activations where it left them; its constants are put out of the caches before each time,
  /// as a run of all steps would. The seconds of each: those of step s stand at s * `times` and
  /// after (allocates). What the outputs hold means nothing: a step may write where it reads.
  /// `times` >= 1. Indices out of range are not counted. kUnsupported on a device.
  Result<std::vector<double>> ProfileRepeated(std::span<const void* const> inputs,
                                              std::span<void* const> outputs, int times) const;

 private:
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
