// Python tensors whose memory is read after the call that received them.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <map>
#include <string>

#include "python/native/borrow.h"

namespace tunec::python {

/// A set of tensors whose Python objects are held. While the buffer of an array.array or bytearray
/// is held, resizing the array raises `BufferError`. Callers that change or destroy a HeldTensors
/// hold the interpreter's lock.
class HeldTensors {
 public:
  /// Holds the tensor of `object` and returns it. If the latest held tensor at the same address has
  /// the same type, shape and strides, only returns that tensor. `what` names the tensor in
  /// messages (see Borrowed).
  const DLTensor& Hold(nanobind::handle object, const std::string& what);

  /// Visits the held objects for Python's garbage collector.
  int Visit(visitproc visit, void* arg) const;

 private:
  struct Held {
    nanobind::object object;
    Borrowed tensor;
  };
  std::deque<Held> held_;
  std::map<const void*, size_t> latest_;  // from an address to an index of `held_`
};

}  // namespace tunec::python
