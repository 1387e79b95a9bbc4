// A Python function that makes a model's graphs, as the C interface wants it.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/tunec.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "python/native/kept_tensors.h"

namespace tunec::python {

/// `text_at` is called with a tuple of sizes and returns (text, dict of weights by name). What it
/// raises ends the call that asked: Rethrow.
class GraphSource {
 public:
  /// `open`: (input, axis, dimension) for each open axis. `follows_rules`: that of
  /// tunec_graph_source.
  GraphSource(nanobind::object text_at, const nanobind::list& dimensions,
              const nanobind::list& example, const nanobind::list& open, bool follows_rules);

  /// For one call of tunec_compile_any_size; `of` is kept until the library releases it.
  static tunec_graph_source Describe(const std::shared_ptr<GraphSource>& of);
  /// With the interpreter's lock, after a call that asked and came to `status`: raises, once, what
  /// the function raised, if that ended the call or is no error, as KeyboardInterrupt.
  void Rethrow(int status);

  /// For Python's garbage collector, since the function may lead back to the executable that has
  /// this: shows it what is held here, and lets go of it. Nothing is asked for any more then.
  int Visit(visitproc visit, void* arg) const;
  void Clear();

 private:
  static int TextAt(void* user, const int64_t* sizes, tunec_graph_text* text);
  int TextOrRaised(const int64_t* sizes, tunec_graph_text* text);
  static void Release(void* user);
  void Make(const int64_t* sizes, tunec_graph_text* text);

  nanobind::object text_at_;
  std::vector<std::string> dimensions_;
  std::vector<const char*> dimension_names_;
  std::vector<int64_t> example_;
  std::vector<tunec_open_axis> open_;
  const bool follows_rules_;

  // Of the latest text.
  std::string text_;
  std::vector<std::string> names_;
  std::vector<const char*> name_pointers_;
  std::vector<const DLTensor*> tensors_;
  /// The weights of all texts: executables may read them where they are.
  KeptTensors kept_;
  std::exception_ptr raised_;
  bool interrupted_ = false;  // what was raised is no error: nothing more is made until it is out
};

}  // namespace tunec::python
