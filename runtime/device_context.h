// Private to runtime/: a run's memory on a device, and kernels bound to this memory.
//
// A run copies the host's buffers to the device, starts all kernels, copies results back, and waits
// for the end. A queued run marks its end in the caller's stream instead of waiting. The device
// executes the next run of this context after the mark. Consecutive kernels are one DeviceSequence,
// which a device can record once. Only the addresses of inputs and outputs change between runs.
// Copy steps, which are at the end of a plan, are separate calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/run_context.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Alignment in bytes without which a caller's buffer on the device is copied. It is the size of a
/// kernel's widest access.
inline constexpr size_t kDeviceAlignment = 16;

/// Flags of the caller's buffers: true if some run had to copy the buffer because it was not
/// aligned. All contexts of an executable set the same flags.
struct StagedBuffers {
  StagedBuffers() = default;
  StagedBuffers(size_t inputs, size_t outputs) : inputs(inputs), outputs(outputs) {}

  std::vector<std::atomic<bool>> inputs;
  std::vector<std::atomic<bool>> outputs;
};

/// The steps that a DeviceContext runs, and the objects that the steps use. The steps and objects
/// outlive the context.
struct DeviceProgram {
  Device& device;
  ThreadPool& pool;
  std::span<const Step> steps;
  std::span<const IndexCheck> checks;
  std::span<std::byte* const> constants;  // device addresses
  int64_t arena_bytes = 0;
  StagedBuffers& staged;
};

/// The memory and kernels of one run at a time on a device, in a queue that no other context uses.
class DeviceContext final : public RunContext {
 public:
  static Result<std::unique_ptr<DeviceContext>> Make(const DeviceProgram& program);
  /// Waits for a queued run, because the destructor frees the memory that the run uses.
  ~DeviceContext() override;

  Status Run(const RunBuffers& buffers, std::span<double> seconds) override;
  Result<int64_t> CountOutside(const IndexCheck& check, const RunBuffers& buffers) override;
  Result<bool> IsFreeFor(void* stream) override;
  Status Wait() override;
  bool HasQueuedRun() const override { return queued_in_ != nullptr; }
  int64_t Bytes() const override { return bytes_; }
  std::string Note() const override;

 private:
  // A part of a run: consecutive kernels, or a copy.
  struct Part {
    std::unique_ptr<DeviceSequence> kernels;  // null: a copy
    std::vector<size_t> steps;                // steps of the part, in order
    int64_t copy_bytes = 0;
    void* from = nullptr;
    void* to = nullptr;
  };
  // An argument of a step that is in an input or output of the run.
  struct CallerArgument {
    size_t part;
    size_t kernel;    // number of the kernel in the part
    size_t argument;  // number of the argument; for a copy: 0 from, 1 to
    bool output;
    int32_t index;
    int64_t offset;
  };
  // The address of one input or output in a run, and the memory that replaces the caller's buffer
  // where necessary.
  struct Staging {
    DeviceMemory memory;           // has no owner until first needed
    std::byte* address = nullptr;  // address in this run: in `memory`, or in the caller's buffer
  };

  explicit DeviceContext(const DeviceProgram& program) : program_(program) {}
  Status Allocate();
  Result<DeviceMemory> AllocateOnDevice(int64_t bytes);
  Status AddSteps();
  std::vector<void*> AddArguments(const Step& step, size_t kernel);
  DeviceCall MakeCall(const Step& step, size_t kernel);
  Status SetInputAddresses(const RunBuffers& buffers);
  Status SetOutputAddresses(const RunBuffers& buffers);
  Status Stage(Staging& staging, int64_t bytes);
  void SetArguments();
  Status ClearSlicedInputs(const RunBuffers& buffers);
  void CopyInputs(const RunBuffers& buffers);
  void CopyOutputs(const RunBuffers& buffers);
  void StartSteps();
  Status TimeSteps(std::span<double> seconds);
  Status RunInStream(const RunBuffers& buffers, std::span<double> seconds);
  Status Queue(const RunBuffers& buffers);

  const DeviceProgram program_;
  std::unique_ptr<Device> queue_;
  DeviceMemory arena_;
  DeviceMemory workspace_;
  std::vector<Staging> inputs_;
  std::vector<Staging> outputs_;
  std::vector<Part> parts_;
  std::vector<CallerArgument> caller_arguments_;
  Buffer indices_;             // host memory for the largest index check
  void* queued_in_ = nullptr;  // the stream of a run that may still be under way; null: none
  int64_t bytes_ = 0;
};

}  // namespace tunec
