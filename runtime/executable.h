// A program that is ready to run, made from an ExecutablePlan. Any number of threads may run the
// program at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/copy_slice.h"
#include "runtime/executable_plan.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Memory of a caller's buffer. `kDevice` is the memory of the executable's device. `kHostNow` is
/// pageable host memory that is read before the call returns.
enum class BufferLocation : uint8_t { kHost, kDevice, kHostNow };

/// The point at which the call of a run returns. `kDone`: when the run is done. `kQueued`: when the
/// run is in the caller's stream; the run need not be done.
enum class RunReturn : uint8_t { kDone, kQueued };

/// Options of a run of an executable on a device.
struct RunOptions {
  /// Memory of each input and output. Empty: all are in host memory.
  std::span<const BufferLocation> inputs = {};
  std::span<const BufferLocation> outputs = {};
  /// Slice of each input and output. The buffer is then the start of the caller's array, which may
  /// have other extents than the tensor. The run copies only the slice between the array and the
  /// tensor. An axis of the tensor may be split into several extents of the SliceCopy. Null: the
  /// whole tensor. Elements of an input tensor outside its slice are 0. Elements of a caller's
  /// output array outside the slice do not change. An empty list: no slices. Slices are for devices
  /// only.
  std::span<const SliceCopy* const> input_slices = {};
  std::span<const SliceCopy* const> output_slices = {};
  /// A stream of the device into which the run is put, in order with other work there. Null: a
  /// stream of the executable; the contents of device buffers must then be complete before the
  /// call.
  void* stream = nullptr;
  /// The point at which the call returns. kQueued requires a stream, inputs that are not kHost, and
  /// outputs that are kDevice. Buffers on the device must stay valid until the run is done, as the
  /// stream or Executable::Wait shows.
  RunReturn returns = RunReturn::kDone;
};

/// The caller's buffers of a run.
struct CallerBuffers {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
};

class Executable;

/// One of several runs that are executed as one batch.
struct BatchedRun {
  const Executable* executable = nullptr;
  CallerBuffers buffers;
};

/// The memory of an executable in bytes, on the host or on its device.
struct MemoryUse {
  int64_t constants = 0;    // shared by all runs and possibly by other executables
  int64_t per_context = 0;  // arena, workspace and scratch of one concurrent run
  int64_t contexts = 0;     // number of contexts, not bytes
};

/// Indices of a gather that were out of range; the kernels used the nearest index in range. Gathers
/// with the same indices and extent have one entry.
struct OutsideIndices {
  std::string node;
  int64_t extent = 0;  // -extent to extent-1 are in range
  int64_t count = 0;   // in all runs so far, except queued runs
};

/// A program that is ready to run. Immutable except for counters and the memory of runs.
/// Thread-safe: all const members may be called from several threads at once. A moved-from object
/// may only be destroyed or assigned to. The destructor requires that no call is running, and waits
/// for queued runs.
class Executable {
 public:
  /// Makes an executable: checks the plan, runs the preprocessing, copies the constants to the
  /// plan's device if there is one, and makes one context. If the plan has a rejection, nothing is
  /// run or copied. `pool` may be shared by executables; null: a pool of plan.threads is made.
  /// Errors: kInvalidArgument for an invalid plan; kResourceLimit without memory; kDevice for
  /// errors of the device.
  static Result<Executable> Make(ExecutablePlan plan, std::shared_ptr<ThreadPool> pool = nullptr);

  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  const std::vector<TensorSpec>& Inputs() const;
  const std::vector<TensorSpec>& Outputs() const;
  /// Returns the names of the steps in order.
  const std::vector<std::string>& StepNames() const;
  int Threads() const;
  /// Returns the number of the device whose memory may hold callers' buffers; none: host memory
  /// only.
  std::optional<int> DeviceNumber() const;
  MemoryUse Memory() const;
  /// Returns the gathers for which checks found indices out of range, with the numbers of these
  /// indices.
  std::vector<OutsideIndices> Outside() const;
  /// Returns the sum of the counts that Outside returns.
  int64_t CountOutside() const;
  /// Returns notes for users, one line each: why kernels are started one by one, and which buffers
  /// runs had to copy.
  std::vector<std::string> Notes() const;

  /// Runs the program once: reads the inputs and writes the outputs. There is one dense buffer per
  /// input and output, aligned to the element; a buffer of no bytes may be null. An input may
  /// overlap outputs; the input is then copied first, unless the plan can update the buffer in
  /// place (in_place_outputs.h). Two outputs must not overlap. A call usually allocates nothing if
  /// earlier calls had the same buffers. Fails with kInvalidArgument for a wrong number of buffers,
  /// for a null or misaligned buffer, and for outputs that overlap; nothing was written then. Fails
  /// with kResourceLimit without memory. If the plan has a rejection, returns the rejection.
  ///
  /// On a device: host inputs are copied to the device, and host outputs from the device. Device
  /// buffers are used in place, unless they have a slice, are not aligned to 16 bytes, or are
  /// inputs that overlap outputs; these are copied. The run is done when the call returns, unless
  /// the options say otherwise. After kDevice, outputs may have been written.
  ///
  /// Queued runs: the call returns errors that are known so far. A later call of Run, which then
  /// does not run, or of Wait may return later errors. Runs queued in one stream may share memory,
  /// one after the other. Concurrent runs in several streams have separate memory.
  Status Run(std::span<const void* const> inputs, std::span<void* const> outputs,
             const RunOptions& options = {}) const;

  /// Returns whether runs of both executables can be one batch: both run on the host, on one pool,
  /// and have the same number of steps.
  bool CanBatchWith(const Executable& other) const;
  /// Executes several runs as one batch: each step is executed for all runs before the next step.
  /// So constants that the runs share may be read from memory once. Errors: those of Run. The
  /// outputs of one run must not overlap buffers of another. `options` apply to each run. Requires:
  /// each executable CanBatchWith the first; there is at least one run.
  static Status RunBatch(std::span<const BatchedRun> runs, const RunOptions& options = {});

  /// Frees memory of finished runs; later runs allocate memory again. Memory of an unfinished
  /// queued run stays.
  void FreeIdle() const;

  /// Waits for queued runs whose calls have returned. Returns the error of one of them, if any.
  Status Wait() const;

  /// Runs once and returns the time of each step in seconds (allocates). Returns when the run is
  /// done.
  Result<std::vector<double>> ProfileRun(std::span<const void* const> inputs,
                                         std::span<void* const> outputs,
                                         const RunOptions& options = {}) const;

  /// Runs each step `times` times before the next step and returns the seconds of each of these
  /// runs. The results of step s begin at index s * `times` (allocates). If `times` > 1, a step's
  /// constants are evicted before each time, while its activations may be in the caches, as in a
  /// run of all steps. The outputs are then meaningless, because a step may overwrite its inputs,
  /// and indices out of range are not counted. `times` >= 1. Fails with kUnsupported on a device.
  Result<std::vector<double>> ProfileRepeated(std::span<const void* const> inputs,
                                              std::span<void* const> outputs, int times) const;

 private:
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
