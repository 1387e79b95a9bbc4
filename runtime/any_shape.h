// A model that runs on inputs of several shapes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/executable.h"
#include "runtime/tensor_spec.h"
#include "support/error.h"

namespace tunec {

using Shape = std::vector<int64_t>;

/// All const members may be called from several threads at once.
class AnyShape {
 public:
  virtual ~AnyShape() = default;

  /// What goes in and comes out. A dimension that may vary is -1.
  virtual const std::vector<TensorSpec>& Inputs() const = 0;
  virtual const std::vector<TensorSpec>& Outputs() const = 0;

  /// Of the outputs for inputs of these shapes. Compiles what these sizes need, where it has not
  /// been. kInvalidArgument for shapes that are none of the model's.
  virtual Result<std::vector<Shape>> OutputShapes(std::span<const Shape> inputs) const = 0;

  /// The number of the device whose memory callers' buffers may lie in, as Executable has it.
  virtual std::optional<int> DeviceNumber() const = 0;

  /// Reads the inputs of these shapes, writes the outputs of theirs: dense buffers, as
  /// Executable::Run takes them. `options` name no boxes. On an error no output was written, unless
  /// it is kResourceLimit or kDevice, which a run of several parts may come to in a later one.
  virtual Status Run(std::span<const Shape> shapes, std::span<const void* const> inputs,
                     std::span<void* const> outputs, const RunOptions& options = {}) const = 0;

  /// Waits for all runs that were queued, as Executable::Wait.
  virtual Status Wait() const = 0;

  /// Indices of gathers that were out of range, in all runs so far.
  virtual int64_t CountOutside() const = 0;

  /// What there is of compiled code by now, as JSON.
  virtual std::string Report() const = 0;
};

}  // namespace tunec
