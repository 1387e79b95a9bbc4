// What a tunec_executable is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/include/tunec/tunec.h"
#include "ir/axis_order.h"
#include "runtime/any_shape.h"
#include "runtime/executable.h"
#include "support/error.h"
#include "support/watched_file.h"

namespace tunec {

/// What callers are told of inputs and outputs where some lie otherwise than row-major. The
/// executable itself has the shapes in which they lie.
struct LaidEdges {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<AxisOrder> input_orders;
  std::vector<AxisOrder> output_orders;
};

}  // namespace tunec

/// Either `executable` or `any_shape` is there.
struct tunec_executable {
  std::shared_ptr<const tunec::Executable> executable;
  std::string report;  // as JSON
  std::shared_ptr<const tunec::AnyShape> any_shape;
  std::string note = {};                         // how it was loaded, a line for tunec_notes
  std::unique_ptr<const tunec::LaidEdges> laid;  // null: all are row-major
  std::shared_ptr<const tunec::WatchedFile> file = nullptr;  // of a bundle, watched; null: none
  /// Compiles the model for tensors that lie as this JSON object of layouts says. Empty: what it
  /// takes is gone, or there is no compiler.
  std::function<tunec::Result<std::unique_ptr<tunec_executable>>(const char* layouts_json,
                                                                 const tunec_callbacks* callbacks)>
      compile_layouts;
};
