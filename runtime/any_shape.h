// The interface of a model that runs on inputs of several shapes.
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

/// A model with dynamic shapes. Thread-safe: all const members may be called from several threads
/// at once.
class AnyShape {
 public:
  virtual ~AnyShape() = default;

  /// Return the inputs or the outputs. A dynamic dimension is -1.
  virtual const std::vector<TensorSpec>& Inputs() const = 0;
  virtual const std::vector<TensorSpec>& Outputs() const = 0;

  /// Returns the shapes of the outputs for inputs of these shapes. If formulas do not give the
  /// shapes, finds or makes the code for these sizes. Fails with kInvalidArgument if the model does
  /// not accept the shapes. Other errors: those of checking the sizes or of making the code.
  virtual Result<std::vector<Shape>> OutputShapes(std::span<const Shape> inputs) const = 0;

  /// Returns the number of the device whose memory may hold callers' buffers, like
  /// Executable::DeviceNumber.
  virtual std::optional<int> DeviceNumber() const = 0;

  /// Runs the model on inputs of these shapes. Buffers are dense, as for Executable::Run. Requires:
  /// `options` have no slices. After an error, outputs may have been written, because the run may
  /// be split into several parts and a later part may fail.
  virtual Status Run(std::span<const Shape> shapes, std::span<const void* const> inputs,
                     std::span<void* const> outputs, const RunOptions& options = {}) const = 0;

  /// Waits for all queued runs, like Executable::Wait.
  virtual Status Wait() const = 0;

  /// Returns the number of gather indices out of range in all runs so far, except queued runs.
  virtual int64_t CountOutside() const = 0;

  /// Returns a report about the model's code, as JSON.
  virtual std::string Report() const = 0;
};

}  // namespace tunec
