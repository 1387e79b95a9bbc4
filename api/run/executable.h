// Definition of tunec_executable, the C interface's handle of a compiled or loaded model.
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

/// The logical specs and the memory layouts of the inputs and outputs of a model that was compiled
/// with the option "layouts". The executable's own specs have the axes in memory order.
struct EdgesWithLayouts {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<AxisOrder> input_orders;
  std::vector<AxisOrder> output_orders;
};

}  // namespace tunec

/// A compiled or loaded model. Exactly one of `executable` and `any_shape` is not null.
struct tunec_executable {
  std::shared_ptr<const tunec::Executable> executable;
  std::string report;  // as JSON
  std::shared_ptr<const tunec::AnyShape> any_shape;
  std::string note = {};  // a line for tunec_notes about how the model was loaded
  std::unique_ptr<const tunec::EdgesWithLayouts> edges;  // null: all are row-major
  /// The mapped file of a bundle; null for a compiled model and for a bundle inside a library.
  std::shared_ptr<const tunec::WatchedFile> file = nullptr;
  /// Compiles the model again for tensors with the layouts in `layouts_json`, a JSON object like
  /// the option "layouts", or null for row-major. The function is empty for bundles, for dynamic
  /// shapes, and if the model's source is not retained.
  std::function<tunec::Result<std::unique_ptr<tunec_executable>>(const char* layouts_json,
                                                                 const tunec_callbacks* callbacks)>
      compile_layouts;
};
