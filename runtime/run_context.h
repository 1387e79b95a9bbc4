// Private to runtime/: what one run at a time works in. host_context.h is that of an executable
// whose kernels are the host's, device_context.h that of one whose kernels are a device's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/executable.h"
#include "runtime/executable_plan.h"
#include "support/error.h"

namespace tunec {

/// Whether the two ranges share a byte.
bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes);

/// Whether no two outputs share a byte. `bytes_of` a number gives the bytes of that output.
template <class BytesOf>
Status CheckApart(std::span<const TensorSpec> specs, std::span<void* const> outputs,
                  const BytesOf& bytes_of) {
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (Overlap(outputs[i], bytes_of(i), outputs[j], bytes_of(j)))
        return Fail(ErrorCode::kInvalidArgument, "outputs '{}' and '{}' overlap", specs[j].name,
                    specs[i].name);
  return {};
}

/// The caller's buffers of a run, checked. What the spans hold stays until the run is done.
struct RunBuffers {
  std::span<const void* const> inputs;
  std::span<const int64_t> input_bytes;
  std::span<void* const> outputs;
  std::span<const int64_t> output_bytes;
  RunOptions options = {};

  bool InputOnDevice(size_t i) const {
    return !options.inputs.empty() && options.inputs[i] == BufferPlace::kDevice;
  }
  bool OutputOnDevice(size_t i) const {
    return !options.outputs.empty() && options.outputs[i] == BufferPlace::kDevice;
  }
  /// Null: the buffer is the whole tensor.
  const BoxCopy* InputBox(size_t i) const {
    return options.input_boxes.empty() ? nullptr : options.input_boxes[i];
  }
  const BoxCopy* OutputBox(size_t i) const {
    return options.output_boxes.empty() ? nullptr : options.output_boxes[i];
  }
  /// Of the caller's buffer, which may be of other bytes than the tensor.
  int64_t BytesOfInput(size_t i) const {
    const BoxCopy* box = InputBox(i);
    return box == nullptr ? input_bytes[i] : BytesOf(box->source, box->element_bytes);
  }
  int64_t BytesOfOutput(size_t i) const {
    const BoxCopy* box = OutputBox(i);
    return box == nullptr ? output_bytes[i] : BytesOf(box->target, box->element_bytes);
  }
};

/// Memory for the steps of an executable, and what of them can be prepared before a run. Used by
/// one thread at a time.
class RunContext {
 public:
  RunContext() = default;
  virtual ~RunContext() = default;
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  /// Runs all steps, and waits until they are done, or queues them. `seconds` is filled with those
  /// of each step; empty: nothing is timed. On the host there may be several for each step, which
  /// then runs so often. Allocates only what no run before it needed.
  virtual Status Run(const RunBuffers& buffers, std::span<double> seconds) = 0;
  /// How many of the indices are out of range. Requires: the run of these buffers was the last one.
  virtual Result<int64_t> CountOutside(const IndexCheck& check, const RunBuffers& buffers) = 0;
  /// Whether a run in that stream may have the context without waiting for an earlier one in
  /// another stream. Errors: of the earlier one.
  virtual Result<bool> IsFreeFor(void* /*stream*/) { return true; }
  /// Waits for a run that was queued. Its error, if nobody has heard of it.
  virtual Status Wait() { return {}; }
  /// Whether a run was queued of which it is not known that it is done, and how.
  virtual bool HasQueuedRun() const { return false; }
  /// Bytes allocated.
  virtual int64_t Bytes() const = 0;
  /// What a user should know of how the steps are run; empty: nothing.
  virtual std::string Note() const { return {}; }

  std::unique_ptr<RunContext> next;  // of the executable's list of idle contexts
};

}  // namespace tunec
