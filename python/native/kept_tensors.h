// Tensors of Python that are read for longer than a call.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <map>
#include <string>

#include "python/native/borrow.h"

namespace tunec::python {

/// Holds tensors and their memory while it lives. An owner that resizes a held tensor gets a
/// `BufferError`. Whoever changes or destroys a KeptTensors has the interpreter's lock.
class KeptTensors {
 public:
  /// Returns the tensor of `object`. A tensor that is given again is held once. `what` names the
  /// tensor in messages (see Borrowed).
  const DLTensor& Keep(nanobind::handle object, const std::string& what);

  /// For Python's garbage collector.
  int Visit(visitproc visit, void* arg) const;

 private:
  struct Kept {
    nanobind::object object;
    Borrowed tensor;
  };
  std::deque<Kept> kept_;
  std::map<const void*, size_t> latest_;  // by the memory, a number in `kept_`
};

}  // namespace tunec::python
