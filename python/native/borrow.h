// A Python tensor as a DLTensor, without a copy, for as long as a call lasts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <tunec/tunec.h>

#include <string>
#include <vector>

#include "python/native/exchange.h"

namespace tunec::python {

/// What of a tensor is wanted.
enum class Access : uint8_t { kRead, kWrite };

/// Takes a tensor from any of: DLPack's table of C functions (torch), the buffer protocol (NumPy
/// and whatever else has it), `__dlpack__`. The lock of the interpreter is held when one is made
/// and when it goes.
class Borrowed {
 public:
  Borrowed() = default;
  /// `what` names the tensor in messages. Raises tunec.InvalidArgument for what is no tensor, for
  /// one that may not be written but is to be, and for one whose shape cannot be read.
  Borrowed(nanobind::handle object, Access access, const std::string& what);
  Borrowed(Borrowed&& other) noexcept { Swap(other); }
  Borrowed& operator=(Borrowed&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Borrowed();

  DLTensor& tensor() { return tensor_; }
  const DLTensor& tensor() const { return tensor_; }

  /// For Python's garbage collector, of what is held for longer than a call.
  int Visit(visitproc visit, void* arg) const;

 private:
  void Take(nanobind::handle object, Access access, const std::string& what);
  bool TakeByTable(nanobind::handle object);
  bool TakeBuffer(nanobind::handle object, Access access, const std::string& what);
  void TakeBfloat16(nanobind::handle object, Access access, const std::string& what);
  void TakeCapsule(nanobind::handle object, Access access, const std::string& what);
  void Swap(Borrowed& other) noexcept;

  DLTensor tensor_ = {};
  std::vector<int64_t> strides_;  // of a buffer, in elements
  std::vector<int64_t> shape_;    // of a buffer, where Py_ssize_t is no int64_t to point to
  nanobind::object keeper_;       // of __dlpack__: the capsule
  Py_buffer buffer_ = {};
  bool has_buffer_ = false;
};

/// What an object is called in messages: its type's name.
std::string TypeName(nanobind::handle object);

}  // namespace tunec::python
