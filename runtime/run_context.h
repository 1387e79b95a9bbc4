// Private to runtime/: the interface of contexts. A context has the memory and the prepared calls
// of one run at a time. host_context.h has contexts for host kernels, device_context.h for devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/executable.h"
#include "runtime/executable_plan.h"
#include "support/error.h"

namespace tunec {

/// Returns whether the two ranges share a byte.
bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes);

/// Checks that no two outputs share a byte. `bytes_of(i)` returns the number of bytes of output i.
template <class BytesOf>
Status CheckDisjoint(std::span<const TensorSpec> specs, std::span<void* const> outputs,
                     const BytesOf& bytes_of) {
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (Overlap(outputs[i], bytes_of(i), outputs[j], bytes_of(j)))
        return Fail(ErrorCode::kInvalidArgument, "outputs '{}' and '{}' overlap", specs[j].name,
                    specs[i].name);
  return {};
}

/// The buffers and options of a run. The lists are valid until the call of the run returns.
struct RunBuffers {
  std::span<const void* const> inputs;
  std::span<const int64_t> input_bytes;
  std::span<void* const> outputs;
  std::span<const int64_t> output_bytes;
  RunOptions options = {};

  bool IsInputOnDevice(size_t i) const {
    return !options.inputs.empty() && options.inputs[i] == BufferLocation::kDevice;
  }
  bool IsOutputOnDevice(size_t i) const {
    return !options.outputs.empty() && options.outputs[i] == BufferLocation::kDevice;
  }
  /// Returns the slice of an input. Null: the buffer is the whole tensor.
  const SliceCopy* InputSlice(size_t i) const {
    return options.input_slices.empty() ? nullptr : options.input_slices[i];
  }
  const SliceCopy* OutputSlice(size_t i) const {
    return options.output_slices.empty() ? nullptr : options.output_slices[i];
  }
  /// Returns the bytes of the caller's buffer, which may have another size than the tensor.
  int64_t BytesOfInput(size_t i) const {
    const SliceCopy* slice = InputSlice(i);
    return slice == nullptr ? input_bytes[i] : BytesOf(slice->source, slice->element_bytes);
  }
  int64_t BytesOfOutput(size_t i) const {
    const SliceCopy* slice = OutputSlice(i);
    return slice == nullptr ? output_bytes[i] : BytesOf(slice->target, slice->element_bytes);
  }
};

/// Memory for the steps of an executable, and prepared parts of their calls. Only one thread at a
/// time may use a context.
class RunContext {
 public:
  RunContext() = default;
  virtual ~RunContext() = default;
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  /// Runs all steps and waits until they are done, or queues them. `seconds` receives the time of
  /// each step; empty: nothing is timed. On the host `seconds` may have several entries per step;
  /// each step then runs once per entry. Without `seconds`, usually allocates nothing if an earlier
  /// run had the same buffers.
  virtual Status Run(const RunBuffers& buffers, std::span<double> seconds) = 0;
  /// Returns the number of indices out of range. Requires: the last run used these buffers.
  virtual Result<int64_t> CountOutside(const IndexCheck& check, const RunBuffers& buffers) = 0;
  /// Returns whether a run in this stream can use the context without waiting for an earlier run in
  /// another stream. Fails with the error of an earlier queued run.
  virtual Result<bool> IsFreeFor(void* /*stream*/) { return true; }
  /// Waits for a queued run, if there is one. Returns the error of this run, or of the wait.
  virtual Status Wait() { return {}; }
  /// Returns true if a queued run may still be under way. After the end of the run, the result
  /// can stay true until a call of IsFreeFor or Wait.
  virtual bool HasQueuedRun() const { return false; }
  /// Returns the bytes of the arena, the workspace, the scratch and the copies of callers' buffers.
  virtual int64_t Bytes() const = 0;
  /// Returns a note for users about how the steps are run; empty: no note.
  virtual std::string Note() const { return {}; }

  std::unique_ptr<RunContext> next;  // next in the executable's list of idle contexts
};

}  // namespace tunec
