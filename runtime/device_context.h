// Private to runtime/: a run's memory on a device, and the device's kernels bound to it.
//
// A run copies the host's buffers to the device, starts all kernels, copies results back, and waits
// once, at its end. One that is queued marks its end in the caller's stream in the place of
// waiting; whatever uses this context next comes after the mark. Neighbouring kernels are one
// DeviceSequence, so that a device that can records them once; from run to run only the addresses
// of the caller's buffers change. Copies within the device, which are rare and stand at the end of
// a plan, are calls of their own.
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

/// Where a caller's buffer on a device has to begin: the widest accesses of kernels are of so many
/// bytes.
inline constexpr size_t kDeviceAlignment = 16;

/// Which of the caller's buffers were copied aside so far for want of alignment. Set by any
/// context.
struct StagedBuffers {
  StagedBuffers() = default;
  StagedBuffers(size_t inputs, size_t outputs) : inputs(inputs), outputs(outputs) {}

  std::vector<std::atomic<bool>> inputs;
  std::vector<std::atomic<bool>> outputs;
};

/// What a DeviceContext is made for. All of it outlives the context.
struct DeviceProgram {
  Device& device;
  ThreadPool& pool;
  std::span<const Step> steps;
  std::span<const IndexCheck> checks;
  std::span<std::byte* const> constants;  // addresses of the device
  int64_t arena_bytes = 0;
  StagedBuffers& staged;
};

/// Has a queue of the device to itself.
class DeviceContext final : public RunContext {
 public:
  static Result<std::unique_ptr<DeviceContext>> Make(const DeviceProgram& program);
  /// Waits for a run that was queued: what it uses goes now.
  ~DeviceContext() override;

  Status Run(const RunBuffers& buffers, std::span<double> seconds) override;
  Result<int64_t> CountOutside(const IndexCheck& check, const RunBuffers& buffers) override;
  Result<bool> IsFreeFor(void* stream) override;
  Status Wait() override;
  bool HasQueuedRun() const override { return queued_in_ != nullptr; }
  int64_t Bytes() const override { return bytes_; }
  std::string Note() const override;

 private:
  // Neighbouring kernels, or a copy.
  struct Part {
    std::unique_ptr<DeviceSequence> kernels;  // null: a copy
    std::vector<size_t> steps;                // that it runs, in order
    int64_t copy_bytes = 0;
    void* from = nullptr;
    void* to = nullptr;
  };
  // An argument that is known only when Run is called.
  struct CallerArgument {
    size_t part;
    size_t kernel;    // of the part
    size_t argument;  // of a copy: from, to
    bool output;
    int32_t index;
    int64_t offset;
  };
  // What the kernels read or write in the place of one of the caller's buffers.
  struct Staging {
    DeviceMemory memory;           // without an owner until first needed
    std::byte* address = nullptr;  // of this run: there, or in the caller's buffer
  };

  explicit DeviceContext(const DeviceProgram& program) : program_(program) {}
  Status Allocate();
  Result<DeviceMemory> AllocateHere(int64_t bytes);
  Status AddSteps();
  std::vector<void*> AddArguments(const Step& step, size_t kernel);
  DeviceCall MakeCall(const Step& step, size_t kernel);
  Status PlaceInputs(const RunBuffers& buffers);
  Status PlaceOutputs(const RunBuffers& buffers);
  Status Stage(Staging& staging, int64_t bytes);
  void SetArguments();
  Status ClearBoxes(const RunBuffers& buffers);
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
  Buffer indices_;             // of the host, for the largest check
  void* queued_in_ = nullptr;  // the stream of a run that is not known to be done; null: none
  int64_t bytes_ = 0;
};

}  // namespace tunec
