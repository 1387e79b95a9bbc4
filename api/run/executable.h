// Definition of tunec_executable, the C interface's handle of a compiled or loaded model.
#pragma once

#include <cstdint>
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

/// A tuning that continues in another thread after the call that compiled the model. At its end it
/// replaces the executable. The destructor ends the tuning. Thread-safe.
class BackgroundTuning {
 public:
  virtual ~BackgroundTuning() = default;

  /// Returns the executable for the next run.
  virtual std::shared_ptr<const Executable> Current() const = 0;
  /// Waits for all queued runs, like Executable::Wait, including those of the replaced executable.
  virtual Status WaitForRuns() const = 0;
  /// Returns the number of gather indices out of range in all runs that have ended.
  virtual int64_t CountOutside() const = 0;
  /// Returns the report of the current executable and the state of the tuning, as JSON.
  virtual std::string Report() const = 0;
  /// Waits for the end of the tuning, but not longer than `seconds`. Returns whether it has ended.
  /// Fails with the error that ended it. A tuning that Stop ended has no error.
  virtual Result<bool> Wait(double seconds) const = 0;
  /// Ends the tuning and returns when its thread has ended. Measured trials stay recorded.
  virtual void Stop() = 0;
};

/// The logical specs and the memory layouts of the inputs and outputs. Without orders, all are
/// row-major. The executable's own specs have the axes in memory order.
struct EdgesWithLayouts {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<AxisOrder> input_orders;
  std::vector<AxisOrder> output_orders;
};

}  // namespace tunec

/// A compiled or loaded model. Exactly one of `executable`, `any_shape` and `tuning` is not null.
struct tunec_executable {
  std::shared_ptr<const tunec::Executable> executable;
  std::string report;  // the report as JSON; empty if `tuning` has it
  std::shared_ptr<const tunec::AnyShape> any_shape;
  std::string note = {};  // a line for tunec_notes about how the model was loaded
  std::unique_ptr<const tunec::EdgesWithLayouts> edges;  // null: those of the executable, row-major
  /// The mapped file of a bundle; null for a compiled model and for a bundle inside a library.
  std::shared_ptr<const tunec::WatchedFile> file = nullptr;
  /// Compiles the model again for tensors with the layouts in `layouts_json`, a JSON object like
  /// the option "layouts", or null for row-major. The function is empty for bundles, for dynamic
  /// shapes, and if the model's source is not retained.
  std::function<tunec::Result<std::unique_ptr<tunec_executable>>(const char* layouts_json,
                                                                 const tunec_callbacks* callbacks)>
      compile_layouts;
  std::unique_ptr<tunec::BackgroundTuning> tuning = nullptr;

  /// Returns the executable for the next run; null if shapes are dynamic.
  std::shared_ptr<const tunec::Executable> Current() const {
    return tuning ? tuning->Current() : executable;
  }
};
