// A tunec_graph_source whose texts a Python function makes.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/tunec.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "python/native/held_tensors.h"

namespace tunec::python {

/// A source of graph texts. `text_at` receives a tuple of sizes and returns (text, dict of weights
/// by name). An exception of `text_at` is stored for Rethrow.
class GraphSource {
 public:
  /// `open` lists (input, axis, dimension) for each dynamic axis. `follows_rules` is the field of
  /// tunec_graph_source.
  GraphSource(nanobind::object text_at, const nanobind::list& dimensions,
              const nanobind::list& example, const nanobind::list& open, bool follows_rules);

  /// Returns the description of `of` for one call of tunec_compile_any_size. The library releases
  /// the reference to `of` that the description contains.
  static tunec_graph_source Describe(const std::shared_ptr<GraphSource>& of);
  /// Raises and removes the function's stored exception, if there is one. `status` is the result of
  /// the C call. After TUNEC_OK, exceptions of the class Exception are not raised, only others
  /// (KeyboardInterrupt). Requires the interpreter's lock.
  void Rethrow(int status);

  /// Visit the function and the weights, and release the function, for Python's garbage collector:
  /// the function may reference the executable that owns this source. After Clear, the source makes
  /// no texts.
  int Visit(visitproc visit, void* arg) const;
  void Clear();

 private:
  static int TextAt(void* user, const int64_t* sizes, tunec_graph_text* text);
  int MakeText(const int64_t* sizes, tunec_graph_text* text);
  static void Release(void* user);
  void Make(const int64_t* sizes, tunec_graph_text* text);

  nanobind::object text_at_;
  std::vector<std::string> dimensions_;
  std::vector<const char*> dimension_names_;
  std::vector<int64_t> example_;
  std::vector<tunec_open_axis> open_;
  const bool follows_rules_;

  // The latest text and its weights, to which the library's tunec_graph_text points.
  std::string text_;
  std::vector<std::string> names_;
  std::vector<const char*> name_pointers_;
  std::vector<const DLTensor*> tensors_;
  /// Weights of all texts. Executables may read their memory.
  HeldTensors held_;
  std::exception_ptr raised_;
  bool interrupted_ = false;  // a KeyboardInterrupt or similar is pending, so no text is made
};

}  // namespace tunec::python
